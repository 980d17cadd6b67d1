// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

// The method below has the name of the function.
private let systemWrite = write(_:_:_:)

/// The terminal that this program was started from, whatever its three streams are.
struct ControllingTerminal: ~Copyable {
  enum Answer: Equatable {
    case line(String)
    /// Ctrl-D.
    case end
    /// The time is over, or the terminal has gone.
    case nobody
    /// The question was taken back.
    case withdrawn
  }

  /// Microseconds after which a program in the background looks again.
  private static let pause: UInt32 = 200_000

  private let descriptor: Int32

  /// Nil when there is none, or when this program is in its background, where a question would only
  /// stop it.
  init?() {
    let terminal = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
    guard terminal >= 0 else { return nil }
    guard Self.isForeground(terminal) else {
      close(terminal)
      return nil
    }
    descriptor = terminal
  }

  deinit { close(descriptor) }

  private static func isForeground(_ terminal: Int32) -> Bool { tcgetpgrp(terminal) == getpgrp() }

  /// Shows something that needs no answer.
  func show(_ text: String) { write(text) }

  /// Shows a question and waits for a line. What was typed before is thrown away: it cannot be an
  /// answer.
  func ask(
    _ question: String, within limit: Duration, unless withdrawal: QuestionWithdrawal? = nil
  ) -> Answer {
    var before = termios()
    guard tcgetattr(descriptor, &before) == 0 else { return .nobody }
    // A program may have chosen to get single keys, unseen.
    var lines = before
    lines.c_iflag |= tcflag_t(ICRNL)
    lines.c_oflag |= tcflag_t(OPOST | ONLCR)
    lines.c_lflag |= tcflag_t(ICANON | ECHO | ISIG)
    tcsetattr(descriptor, TCSAFLUSH, &lines)
    write(question)
    let answer = line(until: .now + limit, unless: withdrawal)
    // Without a line's end the cursor still stands behind the question.
    switch answer {
    case .line: break
    case .end, .nobody: write("\n")
    case .withdrawn: write("\nNo answer is needed any more.\n")
    }
    // In the background the terminal is its shell's, and this would stop the program. Half a line that
    // was typed for a question that is gone is for nobody else.
    if Self.isForeground(descriptor) {
      tcsetattr(descriptor, answer == .withdrawn ? TCSAFLUSH : TCSADRAIN, &before)
    }
    return answer
  }

  private func line(
    until deadline: ContinuousClock.Instant, unless withdrawal: QuestionWithdrawal?
  ) -> Answer {
    var octets = [UInt8](repeating: 0, count: 4096)
    while true {
      let rest = (deadline - .now) / Duration.milliseconds(1)
      guard rest > 0 else { return .nobody }
      var ready = [
        pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
        pollfd(fd: withdrawal?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
      ]
      let found = poll(&ready, 2, Int32(min(rest.rounded(.up), 60_000)))
      guard found >= 0 || errno == EINTR else { return .nobody }
      if ready[1].revents != 0, found > 0 { return .withdrawn }
      guard found > 0 else { continue }
      // Who has hung up has said nothing, not even no.
      guard ready[0].revents & Int16(POLLHUP | POLLERR | POLLNVAL) == 0 else { return .nobody }
      // Somebody has put the program into the background: what is typed now is for the shell.
      guard Self.isForeground(descriptor) else {
        usleep(Self.pause)
        continue
      }
      // The terminal gives whole lines.
      let count = read(descriptor, &octets, octets.count)
      if count < 0, errno == EINTR || errno == EAGAIN { continue }
      guard count >= 0 else { return .nobody }
      guard count > 0 else { return .end }
      let line = octets[..<count].filter { $0 > 0x20 }
      return .line(String(decoding: line, as: UTF8.self))
    }
  }

  private func write(_ text: String) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { systemWrite(descriptor, $0.baseAddress, $0.count) }
      guard count > 0 || errno == EINTR else { return }
      rest = rest.dropFirst(max(count, 0))
    }
  }
}
