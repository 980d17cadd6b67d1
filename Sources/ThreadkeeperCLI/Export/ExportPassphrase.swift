// SPDX-License-Identifier: Apache-2.0

import ThreadkeeperDaemon

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The passphrase of an export, from a file or from a person; never from the command line.
enum ExportPassphrase {
  /// From a file, before signals are caught: one ends the reading.
  static func given(_ file: String?, isNew: Bool) throws -> String? {
    try file.map { try PassphraseInput.read($0, isNew: isNew).revealed }
  }

  /// Asked for twice.
  static func new() async throws -> String {
    let first = try await ask("Passphrase for the export: ")
    guard try await ask("The same again: ") == first else {
      throw CommandFailure(.badInput, "the two passphrases are not the same")
    }
    return try PassphraseInput.checked(first).revealed
  }

  /// Asked for once.
  static func existing() async throws -> String { try await ask("Passphrase of the export: ") }

  private static func ask(_ question: String) async throws -> String {
    guard TerminalPrompt.isPossible else { throw PassphraseInput.noTerminal }
    guard let answer = try await TerminalPrompt.ask(question, isHidden: true) else {
      throw CancellationError()
    }
    return answer
  }

  /// The audit of the daemon, which has another working directory, names the file.
  static func absolute(_ file: String) -> String {
    file.hasPrefix("/") ? file : FileManager.default.currentDirectoryPath + "/" + file
  }
}
