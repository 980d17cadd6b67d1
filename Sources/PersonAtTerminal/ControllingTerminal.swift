// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

// A method below has the name of the function.
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

  private enum Event {
    case ready, withdrawn
    /// The time is over.
    case over
    /// The terminal has gone.
    case gone
  }

  /// After which a program in the background looks again.
  private static let pause = Duration.milliseconds(200)
  /// For words that need no answer, on a terminal that somebody has stopped with Ctrl-S.
  private static let patience = Duration.seconds(1)

  private let descriptor: Int32

  /// Nil when there is none, or when this program is in its background, where a question would only
  /// stop it.
  init?() {
    // Waits in `poll` only: what made it return, another reader of this terminal may have taken by then.
    // The flag is this descriptor's own, and not that of the program's streams.
    let terminal = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
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
  func show(_ text: String) { write(text, until: .now + Self.patience) }

  /// Shows a question and waits for a line. What was typed before is thrown away: it cannot be an
  /// answer.
  func ask(
    _ question: String, within limit: Duration, unless withdrawal: QuestionWithdrawal? = nil
  ) -> Answer {
    let deadline = ContinuousClock.now + limit
    switch waitForForeground(until: deadline, unless: withdrawal) {
    case .ready: break
    case .withdrawn: return .withdrawn
    case .over, .gone: return .nobody
    }
    var before = termios()
    guard tcgetattr(descriptor, &before) == 0 else { return .nobody }
    // A program may have chosen to get single keys, unseen.
    var lines = before
    lines.c_iflag |= tcflag_t(ICRNL)
    lines.c_oflag |= tcflag_t(OPOST | ONLCR)
    lines.c_lflag |= tcflag_t(ICANON | ECHO | ISIG)
    change(to: lines, throwingAway: true)
    write(question, until: deadline, unless: withdrawal)
    let answer = line(until: deadline, unless: withdrawal)
    // In the background the terminal is its shell's, and all of this would stop the program.
    guard Self.isForeground(descriptor) else { return answer }
    // Without a line's end the cursor still stands behind the question.
    switch answer {
    case .line: break
    case .end, .nobody: show("\n")
    case .withdrawn: show("\nNo answer is needed any more.\n")
    }
    // Half a line that was typed for a question that is gone is for nobody else.
    if Self.isForeground(descriptor) { change(to: before, throwingAway: answer == .withdrawn) }
    return answer
  }

  /// At once: to wait until all is shown would be without a limit.
  ///
  /// - Parameter throwingAway: whether what was typed, and not read, is for nobody.
  private func change(to modes: termios, throwingAway: Bool) {
    var modes = modes
    tcsetattr(descriptor, TCSANOW, &modes)
    if throwingAway { tcflush(descriptor, TCIFLUSH) }
  }

  private func line(
    until deadline: ContinuousClock.Instant, unless withdrawal: QuestionWithdrawal?
  ) -> Answer {
    var bytes = [UInt8](repeating: 0, count: 4096)
    while true {
      switch wait(for: POLLIN, until: deadline, unless: withdrawal) {
      case .ready: break
      case .withdrawn: return .withdrawn
      case .over, .gone: return .nobody
      }
      // Somebody has put the program into the background: what is typed now is for the shell.
      guard Self.isForeground(descriptor) else {
        switch waitForForeground(until: deadline, unless: withdrawal) {
        case .ready: continue
        case .withdrawn: return .withdrawn
        case .over, .gone: return .nobody
        }
      }
      // The terminal gives whole lines.
      let count = read(descriptor, &bytes, bytes.count)
      // Another reader, such as the program itself, was faster.
      if count < 0, errno == EINTR || errno == EAGAIN { continue }
      guard count >= 0 else { return .nobody }
      guard count > 0 else { return .end }
      let line = bytes[..<count].filter { $0 > 0x20 }
      return .line(String(decoding: line, as: UTF8.self))
    }
  }

  /// What the terminal does not take in time is left out, and all that comes while the program is in
  /// the background: it could stop it.
  private func write(
    _ text: String, until deadline: ContinuousClock.Instant,
    unless withdrawal: QuestionWithdrawal? = nil
  ) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty, Self.isForeground(descriptor) {
      let count = rest.withUnsafeBytes { systemWrite(descriptor, $0.baseAddress, $0.count) }
      guard count <= 0 else {
        rest = rest.dropFirst(count)
        continue
      }
      guard count < 0 else { return }
      if errno == EINTR { continue }
      guard errno == EAGAIN, wait(for: POLLOUT, until: deadline, unless: withdrawal) == .ready
      else { return }
    }
  }

  private func waitForForeground(
    until deadline: ContinuousClock.Instant, unless withdrawal: QuestionWithdrawal?
  ) -> Event {
    while !Self.isForeground(descriptor) {
      let look = ContinuousClock.now + Self.pause
      // Nothing that is typed, only the terminal's end.
      let event = wait(for: 0, until: min(deadline, look), unless: withdrawal)
      guard event == .over, ContinuousClock.now < deadline else { return event }
    }
    return .ready
  }

  private func wait(
    for events: Int32, until deadline: ContinuousClock.Instant,
    unless withdrawal: QuestionWithdrawal?
  ) -> Event {
    while true {
      if withdrawal?.isWithdrawn == true { return .withdrawn }
      let rest = (deadline - .now) / Duration.milliseconds(1)
      guard rest > 0 else { return .over }
      let most = Int32(min(rest.rounded(.up), 60_000))
      var ready = [
        pollfd(fd: descriptor, events: Int16(events), revents: 0),
        pollfd(fd: withdrawal?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
      ]
      let found = poll(&ready, 2, withdrawal?.capped(most) ?? most)
      guard found >= 0 || errno == EINTR else { return .gone }
      guard found > 0, ready[0].revents != 0 else { continue }
      // Who has hung up has said nothing, not even no.
      guard ready[0].revents & Int16(POLLHUP | POLLERR | POLLNVAL) == 0 else { return .gone }
      return .ready
    }
  }
}
