// SPDX-License-Identifier: Apache-2.0

import Glibc
import ThreadkeeperDaemon

/// One question, with a way to end it from another thread.
final class TerminalQuestion: Sendable {
  /// Milliseconds that a signal has to end the process, or to cancel the question.
  private static let patience: Int32 = 5_000

  private let terminal: Int32
  private let reader: Int32
  private let writer: Int32

  /// Takes the terminal's descriptor over.
  init(on terminal: Int32) throws {
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

  /// From any thread: `ask` throws `CancellationError`.
  func end() { try? StandardStream.write("x", to: writer) }

  func ask(_ question: String, isHidden: Bool) throws -> String? {
    guard isHidden else { return try line(question).text }
    var before = termios()
    guard tcgetattr(terminal, &before) == 0 else { throw TerminalPrompt.noTerminal }
    let answer: Line
    do {
      defer { tcsetattr(terminal, TCSAFLUSH, &before) }
      try hide(before)
      answer = try line(question, signals: (before.interrupt, before.quit))
    }
    // With the terminal as it was, the key does what it does everywhere.
    if let signal = answer.signal { try pass(signal) }
    return answer.text
  }

  /// What is typed is not shown any more. The keys that would end or stop the program with the
  /// terminal like that end the line instead, or do nothing (Ctrl-Z).
  private func hide(_ before: termios) throws {
    var hidden = before
    hidden.c_lflag &= ~tcflag_t(ECHO | ISIG)
    // The end of the line is shown, so that what follows begins on a new one.
    hidden.c_lflag |= tcflag_t(ECHONL | ICANON | IEXTEN)
    withUnsafeMutableBytes(of: &hidden.c_cc) {
      $0[Int(VEOL)] = before.interrupt
      $0[Int(VEOL2)] = before.quit
    }
    var now = termios()
    guard tcsetattr(terminal, TCSAFLUSH, &hidden) == 0, tcgetattr(terminal, &now) == 0,
      now.c_lflag & tcflag_t(ECHO | ISIG) == 0, now.c_lflag & tcflag_t(ICANON) != 0
    else {
      throw CommandFailure(.system, "this terminal cannot hide what is typed")
    }
  }

  /// Sends the whole group what the terminal would have sent it, and waits for what comes of it.
  private func pass(_ signal: Int32) throws {
    kill(0, signal)
    var ending = pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
    _ = poll(&ending, 1, Self.patience)
    throw CancellationError()
  }

  private struct Line {
    /// Nil at the end of the input.
    var text: String?
    var signal: Int32?
  }

  private func line(_ question: String, signals: (UInt8, UInt8) = (0, 0)) throws -> Line {
    try? StandardStream.write(question, to: terminal)
    var bytes = [UInt8](repeating: 0, count: 4096)
    while true {
      var ready = (
        pollfd(fd: terminal, events: Int16(POLLIN), revents: 0),
        pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
      )
      withUnsafeMutableBytes(of: &ready) {
        _ = poll($0.bindMemory(to: pollfd.self).baseAddress, 2, -1)
      }
      if ready.1.revents != 0 {
        try? StandardStream.write("\n", to: terminal)
        throw CancellationError()
      }
      guard ready.0.revents != 0 else { continue }
      // The terminal gives whole lines.
      let count = read(terminal, &bytes, bytes.count)
      if count < 0, errno == EINTR || errno == EAGAIN { continue }
      guard count > 0 else { return Line() }
      let typed = bytes.prefix(count)
      if let last = typed.last, last != 0, last == signals.0 || last == signals.1 {
        try? StandardStream.write("\n", to: terminal)
        return Line(signal: last == signals.0 ? SIGINT : SIGQUIT)
      }
      return Line(text: try Self.text(typed))
    }
  }

  private static func text(_ typed: ArraySlice<UInt8>) throws -> String {
    let line = typed.last == UInt8(ascii: "\n") ? typed.dropLast() : typed
    guard let text = String(validating: line, as: UTF8.self) else {
      throw CommandFailure(.badInput, "what was typed is not UTF-8")
    }
    return text
  }
}

extension termios {
  fileprivate var interrupt: UInt8 { key(VINTR) }
  fileprivate var quit: UInt8 { key(VQUIT) }

  /// 0 where no key does it.
  private func key(_ index: Int32) -> UInt8 {
    withUnsafeBytes(of: c_cc) { $0[Int(index)] }
  }
}
