import Glibc
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
  package enum Choice: Sendable { case once, always, no }

  /// Shows a question and waits for one of three words, or their first letters. Who types something
  /// else is asked again; an empty line and Ctrl-D are a no.
  ///
  /// - Parameter withdrawal: takes the question away when somebody else has answered it.
  /// - Returns: nil when nobody can be asked, nobody answers, or the question was taken away.
  package static func choice(about question: String, within limit: Duration, unless withdrawal: QuestionWithdrawal)
    -> Choice?
  {
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
    of terminal: borrowing ControllingTerminal, about question: String, until deadline: ContinuousClock.Instant,
    unless withdrawal: QuestionWithdrawal
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

/// Takes a question back whose answer is needed no more; from any thread, and for good.
package final class QuestionWithdrawal: Sendable {
  /// Milliseconds between two looks where nothing would wake who waits.
  private static let pause: Int32 = 250

  /// Readable once it is taken back; below zero where the system has none to give.
  let descriptor: Int32
  private let other: Int32
  private let flag = Atomic(false)

  package init() {
    var ends: [Int32] = [-1, -1]
    // Sockets, because a pipe cannot be had that is closed on exec from its beginning: another thread
    // may start a program at any time.
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    if socketpair(AF_UNIX, kind, 0, &ends) != 0 { ends = [-1, -1] }
    (descriptor, other) = (ends[0], ends[1])
  }

  deinit { for end in [descriptor, other] where end >= 0 { close(end) } }

  package func withdraw() {
    flag.store(true, ordering: .releasing)
    if other >= 0 { shutdown(other, Int32(SHUT_RDWR)) }
  }

  var isWithdrawn: Bool { flag.load(ordering: .acquiring) }

  /// How long a single `poll` may wait, with the descriptor among what it waits for.
  func capped(_ milliseconds: Int32) -> Int32 { descriptor >= 0 ? milliseconds : min(milliseconds, Self.pause) }

  /// Waits for it. It may return before the time is over.
  ///
  /// - Returns: whether it was taken back.
  package func waits(atMost milliseconds: Int32) -> Bool {
    guard !isWithdrawn else { return true }
    var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    poll(&ready, 1, capped(milliseconds))
    return isWithdrawn
  }
}
