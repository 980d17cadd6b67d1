// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Asks the person at the terminal that this program was started from.
package enum TerminalConsent {
  /// Shows a question and waits for `y`. It shows that somebody is there, and not who.
  ///
  /// - Returns: true for `y` or `yes`; false for every other answer, also an empty line and Ctrl-D;
  ///   nil when nobody can be asked: there is no terminal, the program is in its background, or
  ///   nobody answers.
  package static func agrees(to question: String, within limit: Duration) -> Bool? {
    // One question at a time, or two threads would take each other's answers.
    turns.withLock { _ in
      guard let terminal = ControllingTerminal() else { return nil }
      switch terminal.ask(question + "\nAllow it? [y/N] ", until: .now + limit) {
      case .line(let line): return ["y", "yes"].contains(word(line))
      case .end: return false
      case .unanswered, .withdrawn, .signal, .cannotHide: return nil
      }
    }
  }

  /// What a person says to a question that is open elsewhere too.
  package enum Choice: Sendable {
    case once, always, no
  }

  /// Shows a question and waits for one of three words, or their first letters. Who types something
  /// else is asked again; an empty line and Ctrl-D are a no.
  ///
  /// - Parameter withdrawal: takes the question away when somebody else has answered it.
  /// - Returns: nil when nobody can be asked, nobody answers, or the question was taken away.
  package static func choice(
    about question: String, within limit: Duration, unless withdrawal: QuestionWithdrawal
  ) -> Choice? {
    let deadline = ContinuousClock.now + limit
    while ContinuousClock.now < deadline {
      let said: Choice?? = turns.withLockIfAvailable { _ -> Choice? in
        guard !withdrawal.isWithdrawn, let terminal = ControllingTerminal() else { return nil }
        return choice(of: terminal, about: question, until: deadline, unless: withdrawal)
      }
      if let said { return said }
      // Another question has the terminal.
      if withdrawal.waits(atMost: 100) { return nil }
    }
    return nil
  }

  private static func choice(
    of terminal: borrowing ControllingTerminal, about question: String,
    until deadline: ContinuousClock.Instant, unless withdrawal: QuestionWithdrawal
  ) -> Choice? {
    var words = question + "\nAllow it? [once/always/no] "
    while true {
      switch terminal.ask(words, until: deadline, unless: withdrawal) {
      case .line(let line):
        switch word(line) {
        case "o", "once", "y", "yes": return .once
        case "a", "always": return .always
        case "n", "no", "": return .no
        default: words = "Type once, always or no: "
        }
      case .end: return .no
      case .withdrawn:
        terminal.show("No answer is needed any more.\n")
        return nil
      case .unanswered, .signal, .cannotHide: return nil
      }
    }
  }

  private static func word(_ line: [UInt8]) -> String {
    String(decoding: line.filter { $0 > 0x20 }, as: UTF8.self).lowercased()
  }

  /// Whether there is a terminal at which a person could be asked now.
  package static var isPossible: Bool { ControllingTerminal() != nil }

  /// Shows a line, where there is a terminal.
  package static func show(_ line: String) { ControllingTerminal()?.show(line + "\n") }

  private static let turns = Mutex(())
}
