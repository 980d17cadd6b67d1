// SPDX-License-Identifier: Apache-2.0

import Glibc
import SystemThreads
import ThreadkeeperDaemon

/// Questions to the person at this process's terminal.
package enum TerminalPrompt {
  /// Whether there is somebody to ask: input comes from a terminal, and this process is not in its
  /// background, where a question would only stop it.
  package static var isPossible: Bool {
    guard isatty(STDIN_FILENO) == 1, let terminal = open() else { return false }
    defer { close(terminal) }
    return tcgetpgrp(terminal) == getpgrp()
  }

  /// Asks for one line. Cancellation ends the question.
  ///
  /// - Parameter isHidden: what is typed is not shown.
  /// - Returns: nil at the end of the input (Ctrl-D), or when the terminal has gone.
  /// - Throws: `CancellationError`; `CommandFailure` where there is no terminal.
  package static func ask(_ question: String, isHidden: Bool = false) async throws -> String? {
    guard let terminal = open() else { throw noTerminal }
    let line = try TerminalQuestion(on: terminal)
    return try await withTaskCancellationHandler {
      try await SystemThread.result { try line.ask(question, isHidden: isHidden) }
    } onCancel: {
      line.end()
    }
  }

  /// The same for commands that do nothing else meanwhile, and have done nothing yet. A signal ends the
  /// question, too.
  package static func askNow(_ question: String, isHidden: Bool = false) throws -> String? {
    guard let terminal = open() else { throw noTerminal }
    let line = try TerminalQuestion(on: terminal)
    guard isHidden else { return try line.ask(question, isHidden: false) }
    let signals = QuestionSignals(line)
    let answer = Result { try line.ask(question, isHidden: true) }
    // Whoever was asked has left, whatever was typed before.
    if signals.stop() { throw CancellationError() }
    return try answer.get()
  }

  /// The same on a thread of the system's, where signals are caught already: the flag ends the question.
  static func askNow(
    _ question: String, isHidden: Bool, until stop: StopFlag
  ) throws -> String? {
    guard let terminal = open() else { throw noTerminal }
    let line = try TerminalQuestion(on: terminal)
    return try stop.ending(by: { line.end() }) { try line.ask(question, isHidden: isHidden) }
  }

  /// Says something on the terminal.
  package static func say(_ text: String) {
    guard let terminal = open() else { return }
    defer { close(terminal) }
    try? StandardStream.write(text, to: terminal)
  }

  package static let noTerminal = CommandFailure(
    .usage, "there is no terminal to ask on",
    remedy: "give the password on standard input with --password-stdin")

  private static func open() -> Int32? {
    let descriptor = Glibc.open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
    return descriptor < 0 ? nil : descriptor
  }
}
