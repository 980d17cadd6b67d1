// SPDX-License-Identifier: Apache-2.0

import Glibc
import KeychainCore
import Settings
import SodiumCrypto
import ThreadkeeperDaemon

/// A secret from a file or from standard input; never from the command line.
enum SecretInput {
  static let noTerminal = CommandFailure(
    .usage, "there is no terminal to ask for the passphrase on",
    remedy: "give it with --passphrase-file")

  /// The first line of a file that not every user can read, or with `-` of standard input.
  ///
  /// - Parameter name: what it is, for errors.
  static func line(
    _ path: String, of name: String, limit: Int = 4_096
  ) throws(CommandFailure) -> String {
    let bytes = try path == "-" ? StandardInput.read(limit: limit) : file(path, limit)
    guard let bytes else { throw CommandFailure(.badInput, "the \(name) is too long") }
    let line = bytes.prefix { $0 != 0x0A && $0 != 0x0D }
    guard let text = String(validating: line, as: UTF8.self), !text.isEmpty else {
      throw CommandFailure(
        .badInput, "the first line of \(path) is no \(name): it is empty, or not UTF-8")
    }
    return text
  }

  private static func file(_ path: String, _ limit: Int) throws(CommandFailure) -> [UInt8]? {
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
    return try StandardInput.read(descriptor, named: path, limit: limit)
  }

  /// A new passphrase.
  static func newPassphrase(_ text: String) throws(CommandFailure) -> StoreSecret {
    let secret = StoreSecret(kind: .passphrase, value: text)
    try secret.checkAsNew()
    return secret
  }
}

extension Password {
  /// The first line of a file that others cannot read, or of standard input for `-`.
  static func fromFile(_ path: String) throws(CommandFailure) -> String {
    let text = try SecretInput.line(path, of: "password", limit: limit)
    _ = try checked(Array(text.utf8)[...])
    return text
  }

  /// All of standard input but one line end.
  static func fromStandardInput() throws(CommandFailure) -> SecretBytes {
    guard let bytes = try StandardInput.read(limit: limit + 2) else { throw tooLong }
    return try checked(withoutLineEnd(bytes))
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
