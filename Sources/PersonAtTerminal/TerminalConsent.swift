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
      switch terminal.ask(question + "\nAllow it? [y/N] ", within: limit) {
      case .line(let line): return ["y", "yes"].contains(line.lowercased())
      case .end: return false
      case .nobody: return nil
      }
    }
  }

  private static let turns = Mutex(())
}
