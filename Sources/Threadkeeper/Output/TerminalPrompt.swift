import Glibc
import ThreadkeeperSupport

/// Questions to the person at this process's terminal.
package enum TerminalPrompt {
  /// Milliseconds that a signal has to end the process, or to cancel the question.
  private static let signalLimit: Int32 = 5_000

  /// Whether there is somebody to ask: input comes from a terminal, and this process is not in its
  /// background, where a question would only stop it.
  package static var isPossible: Bool {
    StandardStream.receiver == nil && isatty(STDIN_FILENO) == 1 && ControllingTerminal() != nil
  }

  /// Asks for one line. Cancellation ends the question.
  ///
  /// - Parameter isHidden: what is typed is not shown.
  /// - Returns: nil at the end of the input (Ctrl-D), or when the terminal has gone.
  /// - Throws: `CancellationError`; `CommandFailure` where there is no terminal.
  package static func ask(_ question: String, isHidden: Bool = false) async throws -> String? {
    let withdrawal = QuestionWithdrawal()
    return try await withTaskCancellationHandler {
      try await SystemThread.result { try line(question, isHidden: isHidden, unless: withdrawal) }
    } onCancel: {
      withdrawal.withdraw()
    }
  }

  /// The same, where the end of the input is that of the command.
  static func answer(to question: String, isHidden: Bool = false) async throws -> String {
    guard let answer = try await ask(question, isHidden: isHidden) else { throw CancellationError() }
    return answer
  }

  /// Asks for what is not shown, in a command that does nothing else meanwhile, and has done nothing yet.
  ///
  /// - Parameter stop: ends the question where signals are caught already; nil: a signal ends it.
  static func askNow(_ question: String, until stop: StopFlag?) throws -> String? {
    let withdrawal = QuestionWithdrawal()
    let ask = { try line(question, isHidden: true, unless: withdrawal) }
    if let stop { return try stop.ending(by: { withdrawal.withdraw() }, ask) }
    let signals = QuestionSignals(withdrawal)
    let answer = Result(catching: ask)
    // Whoever was asked has left, whatever was typed before.
    if signals.stop() { throw CancellationError() }
    return try answer.get()
  }

  /// Shows a text on the terminal, where there is one.
  static func show(_ text: String) { ControllingTerminal()?.show(text) }

  static let noTerminal = CommandFailure(
    .usage, "there is no terminal to ask on", remedy: "give the password on standard input with --password-stdin")

  private static func line(_ question: String, isHidden: Bool, unless withdrawal: QuestionWithdrawal) throws -> String?
  {
    guard let terminal = ControllingTerminal() else { throw noTerminal }
    switch terminal.ask(question, isHidden: isHidden, takesTypedAhead: !isHidden, unless: withdrawal) {
    case .line(let bytes):
      guard let text = String(validating: bytes, as: UTF8.self) else {
        throw CommandFailure(.badInput, "what was typed is not UTF-8")
      }
      return text
    case .end, .unanswered: return nil
    case .withdrawn: throw CancellationError()
    case .signal(let signal):
      // The whole group gets what the terminal would have sent it.
      kill(0, signal)
      _ = withdrawal.waits(atMost: signalLimit)
      throw CancellationError()
    case .cannotHide: throw CommandFailure(.system, "this terminal cannot hide what is typed")
    }
  }
}

/// Questions to a person.
protocol Prompt: Sendable {
  /// Whether there is a person to ask now.
  var isPossible: Bool { get }
  /// Asks for one line. Cancellation ends the question.
  ///
  /// - Parameter isHidden: what is typed is not shown.
  /// - Returns: nil at the end of the input.
  func ask(_ question: String, isHidden: Bool) async throws -> String?
  func say(_ text: String)
}

/// The person at this process's terminal.
struct PersonAtTerminal: Prompt {
  var isPossible: Bool { TerminalPrompt.isPossible }

  func ask(_ question: String, isHidden: Bool) async throws -> String? {
    try await TerminalPrompt.ask(question, isHidden: isHidden)
  }

  func say(_ text: String) { TerminalPrompt.show(text) }
}

/// Standard input, for commands that take `-`.
package enum StandardInput {
  /// What a command reads that does not run as a program of its own; nil: the input of this process.
  @TaskLocal static var text: String?

  /// Reads to the end, but never more than one byte beyond the limit.
  ///
  /// - Parameter limit: bytes that are enough for all sensible input.
  /// - Returns: the bytes; `nil` when there are more than the limit. The rest is not read.
  /// - Throws: `CommandFailure` with status 66 when it can't be read.
  package static func read(limit: Int) throws(CommandFailure) -> [UInt8]? {
    guard let text else { return try read(STDIN_FILENO, named: "standard input", limit: limit) }
    return text.utf8.count > limit ? nil : Array(text.utf8)
  }

  /// The same of what is open already.
  static func read(_ descriptor: Int32, named name: String, limit: Int) throws(CommandFailure) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: limit + 1)
    var filled = 0
    while filled < bytes.count {
      let count = bytes[filled...].withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
      if count == 0 { return Array(bytes.prefix(filled)) }
      if count > 0 {
        filled += count
      } else if errno == EAGAIN {
        waitUntilReadable(descriptor)
      } else if errno != EINTR {
        let reason = String(cString: strerror(errno))
        throw CommandFailure(.noInput, "can't read \(name): \(reason)")
      }
    }
    return nil
  }

  /// A stream that is shared with other programs may be set not to block.
  private static func waitUntilReadable(_ descriptor: Int32) {
    var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    _ = poll(&waiting, 1, -1)
  }
}

/// A file that somebody names on the command line, so that what is in it need not stand there.
package enum InputFile {
  /// Reads to the end, but never more than one byte beyond the limit. A pipe will do.
  ///
  /// - Parameter isSecret: whether it is refused where every user can read it.
  /// - Returns: the bytes; `nil` when there are more than the limit.
  /// - Throws: `CommandFailure` with status 66 when it can't be read.
  package static func read(_ path: String, limit: Int, isSecret: Bool = false) throws(CommandFailure) -> [UInt8]? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw CommandFailure(.noInput, "can't read \(path): \(String(cString: strerror(errno)))")
    }
    defer { close(descriptor) }
    var status = stat()
    guard !isSecret || fstat(descriptor, &status) == 0 && status.st_mode & 0o007 == 0 else {
      throw CommandFailure(.notPermitted, "\(path) is open to every user of this machine", remedy: "chmod 600 \(path)")
    }
    return try StandardInput.read(descriptor, named: path, limit: limit)
  }
}
