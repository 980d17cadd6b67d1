// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import Settings
import ThreadkeeperDaemon

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
