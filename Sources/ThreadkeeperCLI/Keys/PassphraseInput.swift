// SPDX-License-Identifier: Apache-2.0

import Glibc
import KeychainCore
import Settings
import ThreadkeeperDaemon

/// A passphrase from a file or from standard input; never from the command line.
enum PassphraseInput {
  private static let limit = 4_096

  static let noTerminal = CommandFailure(
    .usage, "there is no terminal to ask for the passphrase on",
    remedy: "give it with --passphrase-file")

  /// A new one.
  static func checked(_ text: String) throws(CommandFailure) -> SecretText {
    try StoreSecret(kind: .passphrase, value: text).checkAsNew()
    return SecretText(text)
  }

  /// - Parameter name: what it is, for errors.
  static func read(
    _ path: String, isNew: Bool = true, as name: String = "passphrase"
  ) throws(CommandFailure) -> SecretText {
    let bytes = try path == "-" ? StandardInput.read(limit: limit) : file(path)
    guard let bytes else { throw CommandFailure(.badInput, "the \(name) is too long") }
    let line = bytes.prefix { $0 != 0x0A && $0 != 0x0D }
    guard let text = String(validating: line, as: UTF8.self), !text.isEmpty else {
      throw CommandFailure(.badInput, "the first line is empty, or is not UTF-8")
    }
    return isNew ? try checked(text) : SecretText(text)
  }

  private static func file(_ path: String) throws(CommandFailure) -> [UInt8]? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw CommandFailure(.noInput, "can't read \(path): \(String(cString: strerror(errno)))")
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & 0o007 == 0 else {
      throw CommandFailure(
        .notPermitted, "\(path) is open to every user of this machine", remedy: "chmod 600 \(path)")
    }
    var bytes = [UInt8](repeating: 0, count: limit + 1)
    let count = bytes.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
    guard count >= 0 else { throw CommandFailure(.inputOutput, "can't read \(path)") }
    return count > limit ? nil : Array(bytes.prefix(count))
  }
}

/// As commands open the store: where nothing at hand opens it, they ask at the terminal.
extension OpenStore {
  static func forReading(_ settings: Settings) throws -> Keychain {
    try forReading(settings, ask: StoreSecret.askNow)
  }

  static func forWriting(_ settings: Settings) throws -> Keychain {
    try forWriting(settings, ask: StoreSecret.askNow)
  }
}

extension StoreSecret {
  /// Asks a person, if there is one. Nil without a terminal or an answer.
  ///
  /// - Throws: `CancellationError` when the question is broken off: then nothing is to be done.
  static func askNow(_ why: String) throws -> SecretText? {
    try asked(why) { try TerminalPrompt.askNow(question, isHidden: true) }
  }

  /// The same where signals are caught: the flag ends the question.
  static func ask(_ why: String, until stop: StopFlag) throws -> SecretText? {
    try asked(why) { try TerminalPrompt.askNow(question, isHidden: true, until: stop) }
  }

  private static let question = "Passphrase or recovery code of the store: "

  private static func asked(_ why: String, _ ask: () throws -> String?) throws -> SecretText? {
    guard TerminalPrompt.isPossible else { return nil }
    TerminalPrompt.show(why)
    let answer: String?
    do {
      answer = try ask()
    } catch let cancelled as CancellationError {
      throw cancelled
    } catch {
      return nil
    }
    return answer.flatMap { $0.isEmpty ? nil : SecretText($0) }
  }
}
