// SPDX-License-Identifier: Apache-2.0

import Settings
import SodiumCrypto
import ThreadkeeperDaemon

extension Password {
  /// All of standard input but one line end.
  static func fromStandardInput() throws(CommandFailure) -> SecretBytes {
    guard let bytes = try StandardInput.read(limit: limit + 2) else { throw tooLong }
    return try checked(withoutLineEnd(bytes))
  }

  /// The first line of a file that others cannot read, or of standard input for `-`.
  static func fromFile(_ path: String) throws -> SecretText {
    let text = try PassphraseInput.read(path, isNew: false, as: "password")
    _ = try checked(Array(text.revealed.utf8)[...])
    return text
  }

  /// Asks again as long as Enter alone is the answer.
  ///
  /// - Throws: `CancellationError` at the end of the input.
  static func asked(_ question: String) async throws -> SecretBytes {
    guard TerminalPrompt.isPossible else { throw TerminalPrompt.noTerminal }
    while true {
      guard let text = try await TerminalPrompt.ask(question, isHidden: true) else {
        throw CancellationError()
      }
      if !text.isEmpty { return try checked(Array(text.utf8)[...]) }
    }
  }

  static func withoutLineEnd(_ bytes: [UInt8]) -> ArraySlice<UInt8> {
    guard bytes.last == UInt8(ascii: "\n") else { return bytes[...] }
    let line = bytes.dropLast()
    return line.last == UInt8(ascii: "\r") ? line.dropLast() : line
  }
}
