import Glibc

// A method below has the name of the function.
private let systemWrite = write(_:_:_:)

/// The terminal that this program was started from, whatever its three streams are.
package struct ControllingTerminal: ~Copyable {
  package enum Answer: Equatable {
    /// What was typed, without the end of the line.
    case line([UInt8])
    /// Ctrl-D.
    case end
    /// The time is over, or the terminal has gone.
    case unanswered
    /// The question was taken back.
    case withdrawn
    /// A hidden question was answered with the key for this signal (SIGINT, SIGQUIT), which was not sent.
    case signal(Int32)
    /// The terminal shows what is typed, whatever it is asked to do.
    case cannotHide
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
  /// For text that needs no answer, on a terminal that is stopped with Ctrl-S.
  private static let showLimit = Duration.seconds(1)

  private let descriptor: Int32

  /// Nil when there is none, or when this program is in its background, where a question would only
  /// stop it.
  package init?() {
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
  package func show(_ text: String) { write(text, until: .now + Self.showLimit) }

  /// Shows a question and waits for a line.
  ///
  /// - Parameters:
  ///   - isHidden: what is typed is not shown. The keys that would end or stop the program with the terminal like
  ///     that end the question instead (`signal`); others are part of the line (Ctrl-Z).
  ///   - takesTypedAhead: whether what was typed before the question may be its answer.
  ///   - deadline: nil: without a limit.
  package func ask(
    _ question: String, isHidden: Bool = false, takesTypedAhead: Bool = false,
    until deadline: ContinuousClock.Instant? = nil, unless withdrawal: QuestionWithdrawal? = nil
  ) -> Answer {
    switch waitForForeground(until: deadline, unless: withdrawal) {
    case .ready: break
    case .withdrawn: return .withdrawn
    case .over, .gone: return .unanswered
    }
    var before = termios()
    guard tcgetattr(descriptor, &before) == 0 else { return .unanswered }
    let modes = isHidden ? before.forHiddenLine : before.forLine
    change(to: modes, throwingAway: !takesTypedAhead)
    defer {
      // In the background the terminal is its shell's, and to change it would stop the program.
      if Self.isForeground(descriptor) { change(to: before, throwingAway: isHidden) }
    }
    if isHidden, !hidesInput { return .cannotHide }
    write(question, until: deadline, unless: withdrawal)
    let answer = line(
      until: deadline, unless: withdrawal, hiding: isHidden ? modes : nil, isHidden ? before.signalKeys : [:])
    guard Self.isForeground(descriptor) else { return answer }
    // Without a line's end the cursor still stands behind the question.
    if case .line = answer { return answer }
    show("\n")
    // Half a line that was typed for a question that is gone is no input of the program.
    if answer == .withdrawn { tcflush(descriptor, TCIFLUSH) }
    return answer
  }

  private var hidesInput: Bool {
    var current = termios()
    return tcgetattr(descriptor, &current) == 0 && current.hidesLine
  }

  /// At once: to wait until all is shown would be without a limit.
  ///
  /// - Parameter throwingAway: whether what was typed, and not read, is thrown away.
  private func change(to modes: termios, throwingAway: Bool) {
    var modes = modes
    // First, or an answer that comes as soon as the modes have changed would be thrown away.
    if throwingAway { tcflush(descriptor, TCIFLUSH) }
    tcsetattr(descriptor, TCSANOW, &modes)
  }

  private func line(
    until deadline: ContinuousClock.Instant?, unless withdrawal: QuestionWithdrawal?, hiding hiddenModes: termios?,
    _ signalKeys: [UInt8: Int32]
  ) -> Answer {
    var bytes = [UInt8](repeating: 0, count: 4096)
    while true {
      var look: ContinuousClock.Instant?
      if let hiddenModes {
        // A shell that continues a stopped program has set its own modes meanwhile, which show what is typed.
        look = .now + Self.pause
        if Self.isForeground(descriptor), !hidesInput { change(to: hiddenModes, throwingAway: true) }
      }
      let end = [look, deadline].compactMap(\.self).min()
      switch wait(for: POLLIN, until: end, unless: withdrawal) {
      case .ready: break
      case .withdrawn: return .withdrawn
      case .over where end == look && look != nil: continue
      case .over, .gone: return .unanswered
      }
      // Somebody has put the program into the background: what is typed now is for the shell.
      guard Self.isForeground(descriptor) else {
        switch waitForForeground(until: deadline, unless: withdrawal) {
        case .ready: continue
        case .withdrawn: return .withdrawn
        case .over, .gone: return .unanswered
        }
      }
      // The terminal gives whole lines.
      let count = read(descriptor, &bytes, bytes.count)
      // Another reader, such as the program itself, was faster.
      if count < 0, errno == EINTR || errno == EAGAIN { continue }
      guard count >= 0 else { return .unanswered }
      guard count > 0 else { return .end }
      let last = bytes[count - 1]
      if let signal = signalKeys[last] { return .signal(signal) }
      return .line(Array(bytes[..<(last == UInt8(ascii: "\n") ? count - 1 : count)]))
    }
  }

  /// What the terminal does not take in time is left out, and all that comes while the program is in
  /// the background: it could stop it.
  private func write(
    _ text: String, until deadline: ContinuousClock.Instant?, unless withdrawal: QuestionWithdrawal? = nil
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
      guard errno == EAGAIN, wait(for: POLLOUT, until: deadline, unless: withdrawal) == .ready else { return }
    }
  }

  private func waitForForeground(until deadline: ContinuousClock.Instant?, unless withdrawal: QuestionWithdrawal?)
    -> Event
  {
    while !Self.isForeground(descriptor) {
      let look = ContinuousClock.now + Self.pause
      // Nothing that is typed, only the terminal's end.
      let event = wait(for: 0, until: deadline.map { min($0, look) } ?? look, unless: withdrawal)
      if let deadline, ContinuousClock.now >= deadline { return event }
      guard event == .over else { return event }
    }
    return .ready
  }

  private func wait(for events: Int32, until deadline: ContinuousClock.Instant?, unless withdrawal: QuestionWithdrawal?)
    -> Event
  {
    while true {
      if withdrawal?.isWithdrawn == true { return .withdrawn }
      let rest = deadline.map { ($0 - .now) / Duration.milliseconds(1) } ?? 60_000
      guard rest > 0 else { return .over }
      let most = Int32(min(rest.rounded(.up), 60_000))
      var ready = [
        pollfd(fd: descriptor, events: Int16(events), revents: 0),
        pollfd(fd: withdrawal?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
      ]
      let found = poll(&ready, 2, withdrawal?.capped(most) ?? most)
      guard found >= 0 || errno == EINTR else { return .gone }
      guard found > 0, ready[0].revents != 0 else { continue }
      // To hang up is no answer, not even no.
      guard ready[0].revents & Int16(POLLHUP | POLLERR | POLLNVAL) == 0 else { return .gone }
      return .ready
    }
  }
}

extension termios {
  /// Whole lines, shown while they are typed, whatever a program has chosen before.
  var forLine: termios {
    var modes = self
    modes.c_iflag |= tcflag_t(ICRNL)
    modes.c_oflag |= tcflag_t(OPOST | ONLCR)
    modes.c_lflag |= tcflag_t(ICANON | ECHO | ISIG)
    return modes
  }

  /// Whole lines that are not shown, except for their end. The keys of signals end the line.
  var forHiddenLine: termios {
    var modes = forLine
    modes.c_lflag &= ~tcflag_t(ECHO | ISIG)
    modes.c_lflag |= tcflag_t(ECHONL | IEXTEN)
    let (interrupt, quit) = (key(VINTR), key(VQUIT))
    withUnsafeMutableBytes(of: &modes.c_cc) {
      $0[Int(VEOL)] = interrupt
      $0[Int(VEOL2)] = quit
    }
    return modes
  }

  var hidesLine: Bool { c_lflag & tcflag_t(ECHO | ISIG) == 0 && c_lflag & tcflag_t(ICANON) != 0 }

  /// The signal that each key sends.
  var signalKeys: [UInt8: Int32] {
    var keys = [key(VQUIT): SIGQUIT]
    keys[key(VINTR)] = SIGINT
    // Where no key sends it.
    keys[0] = nil
    return keys
  }

  private func key(_ index: Int32) -> UInt8 { withUnsafeBytes(of: c_cc) { $0[Int(index)] } }
}
