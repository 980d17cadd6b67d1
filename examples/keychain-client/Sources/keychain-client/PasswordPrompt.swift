// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Asks the person at the terminal; reads standard input where that is something else.
enum PasswordPrompt {
  struct NoAnswer: Error, CustomStringConvertible { let description = "no password was given" }

  static var isPossible: Bool { isatty(STDIN_FILENO) == 1 }

  /// One line. At a terminal it is not shown while it is typed.
  static func ask(_ question: String) throws -> String {
    var before = termios()
    let isTerminal = isPossible && tcgetattr(STDIN_FILENO, &before) == 0
    if isTerminal {
      FileHandle.standardError.write(Data(question.utf8))
      var hidden = before
      hidden.c_lflag &= ~tcflag_t(ECHO)
      hidden.c_lflag |= tcflag_t(ECHONL)
      tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden)
    }
    defer { if isTerminal { tcsetattr(STDIN_FILENO, TCSAFLUSH, &before) } }
    guard let line = readLine(), !line.isEmpty else { throw NoAnswer() }
    return line
  }
}
