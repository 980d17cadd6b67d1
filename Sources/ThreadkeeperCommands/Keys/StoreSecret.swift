// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import Settings
import SodiumCrypto

/// What opens a key slot, as it goes over the socket.
struct StoreSecret: Codable, Sendable {
  enum Kind: String, Codable, Sendable {
    case keyFile = "key_file"
    case passphrase
    case systemdCredential = "systemd_credential"
    case recoveryCode = "recovery_code"
    /// Typed by a person: the one or the other.
    case passphraseOrCode = "passphrase_or_code"
  }

  var kind: Kind
  /// The passphrase or the code, the path, the name.
  var value: String

  /// What it may be, the likeliest first.
  func ways() throws(KeychainError) -> [KeySlotSecret] {
    switch kind {
    case .keyFile: [.keyFile(path: value)]
    case .passphrase: [.passphrase(SecretBytes(copying: Array(value.utf8)))]
    case .systemdCredential: [.systemdCredential(name: value)]
    case .recoveryCode: [.recoveryCode(try Self.code(value))]
    case .passphraseOrCode: try Self.ways(SecretText(value))
    }
  }

  /// Nobody has a passphrase with the check digits of a code, unless it is one.
  static func ways(_ text: SecretText) throws(KeychainError) -> [KeySlotSecret] {
    let passphrase = KeySlotSecret.passphrase(SecretBytes(copying: Array(text.revealed.utf8)))
    do {
      return [.recoveryCode(try code(text.revealed)), passphrase]
    } catch {
      // Where it looks like one, what is wrong with it is the better answer.
      guard text.revealed.split(separator: "-").map(\.count) == Array(repeating: 5, count: 7) else {
        return [passphrase]
      }
      throw error
    }
  }

  private static func code(_ text: String) throws(KeychainError) -> RecoveryCode {
    try RecoveryCode(typed: text.utf8)
  }

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
    TerminalPrompt.say(why)
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

extension StoreSecret: CustomStringConvertible, CustomReflectable {
  var description: String { kind.rawValue }
  var customMirror: Mirror { Mirror(self, children: ["kind": kind.rawValue]) }
}
