// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc

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
    let wake = try WakePipe(terminal: terminal)
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        // A thread of the system's: a person takes longer than Swift's threads may wait.
        DispatchQueue.global().async {
          continuation.resume(
            with: Result { try wake.ask(question, isHidden: isHidden) })
        }
      }
    } onCancel: {
      wake.raise()
    }
  }

  /// The same for commands that do nothing else meanwhile: a signal ends them.
  package static func askNow(_ question: String, isHidden: Bool = false) throws -> String? {
    guard let terminal = open() else { throw noTerminal }
    return try WakePipe(terminal: terminal).ask(question, isHidden: isHidden)
  }

  /// Says something on the terminal.
  package static func say(_ text: String) {
    guard let terminal = open() else { return }
    defer { close(terminal) }
    write(text, to: terminal)
  }

  package static let noTerminal = CommandFailure(
    .usage, "there is no terminal to ask on",
    remedy: "give the password on standard input with --password-stdin")

  private static func open() -> Int32? {
    let descriptor = Glibc.open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
    return descriptor < 0 ? nil : descriptor
  }

  fileprivate static func write(_ text: String, to terminal: Int32) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(terminal, $0.baseAddress, $0.count) }
      guard count > 0 || errno == EINTR else { return }
      rest = rest.dropFirst(max(count, 0))
    }
  }
}

/// One question, with a way to end it from another thread.
private final class WakePipe: Sendable {
  private let terminal: Int32
  private let reader: Int32
  private let writer: Int32

  /// Takes the terminal's descriptor over.
  init(terminal: Int32) throws {
    var ends: (Int32, Int32) = (-1, -1)
    let code = withUnsafeMutableBytes(of: &ends) {
      pipe($0.bindMemory(to: Int32.self).baseAddress)
    }
    guard code == 0 else {
      close(terminal)
      throw CommandFailure(.system, "no pipe could be made")
    }
    for end in [ends.0, ends.1] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    self.terminal = terminal
    (reader, writer) = ends
  }

  deinit { for descriptor in [terminal, reader, writer] { close(descriptor) } }

  func raise() { TerminalPrompt.write("x", to: writer) }

  func ask(_ question: String, isHidden: Bool) throws -> String? {
    var before = termios()
    guard tcgetattr(terminal, &before) == 0 else { throw TerminalPrompt.noTerminal }
    if isHidden {
      var hidden = before
      hidden.c_lflag &= ~tcflag_t(ECHO)
      // The end of the line is shown, so that what follows begins on a new one.
      hidden.c_lflag |= tcflag_t(ECHONL | ICANON | ISIG)
      // Ctrl-Z would leave a shell in which nothing that is typed is seen.
      withUnsafeMutableBytes(of: &hidden.c_cc) { $0[Int(VSUSP)] = 0 }
      tcsetattr(terminal, TCSAFLUSH, &hidden)
    }
    defer { if isHidden { tcsetattr(terminal, TCSAFLUSH, &before) } }
    TerminalPrompt.write(question, to: terminal)
    return try line()
  }

  private func line() throws -> String? {
    var octets = [UInt8](repeating: 0, count: 4096)
    while true {
      var ready = (
        pollfd(fd: terminal, events: Int16(POLLIN), revents: 0),
        pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
      )
      withUnsafeMutableBytes(of: &ready) {
        _ = poll($0.bindMemory(to: pollfd.self).baseAddress, 2, -1)
      }
      if ready.1.revents != 0 {
        TerminalPrompt.write("\n", to: terminal)
        throw CancellationError()
      }
      guard ready.0.revents != 0 else { continue }
      // The terminal gives whole lines.
      let count = read(terminal, &octets, octets.count)
      if count < 0, errno == EINTR || errno == EAGAIN { continue }
      guard count > 0 else { return nil }
      var line = octets.prefix(count)
      if line.last == UInt8(ascii: "\n") { line = line.dropLast() }
      guard let text = String(validating: line, as: UTF8.self) else {
        throw CommandFailure(.badInput, "what was typed is not UTF-8")
      }
      return text
    }
  }
}
