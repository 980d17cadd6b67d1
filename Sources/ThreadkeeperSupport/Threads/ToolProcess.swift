import Glibc

/// Runs a program to its end, on the caller's thread, and takes what it prints. It is in a process group of its own,
/// which does not outlive the call, whatever the program has started.
package struct ToolProcess {
  private let command: [String]
  private let variables: [String: String]
  private let input: ProcessStart.Stream
  private let mostOutput: Int
  private let timeout: Duration
  private let showsErrors: Bool

  /// - Parameters:
  ///   - command: the program, looked up in PATH, and its arguments.
  ///   - variables: replace those of this process.
  ///   - mostOutput: bytes; more output ends it.
  ///   - showsErrors: whether it writes to this process's standard error; else that is dropped.
  package init(
    _ command: [String], variables: [String: String] = [:], input: ProcessStart.Stream = .nothing, mostOutput: Int,
    timeout: Duration, showsErrors: Bool = false
  ) {
    (self.command, self.variables, self.input) = (command, variables, input)
    (self.mostOutput, self.timeout, self.showsErrors) = (mostOutput, timeout, showsErrors)
  }

  /// Why it has no output. Repeats nothing of what it has printed.
  package enum Failure: Error, Equatable, Sendable, CustomStringConvertible {
    case notFound
    /// With this `errno`.
    case cannotStart(Int32)
    case timeout(seconds: Int64)
    case tooMuchOutput
    case ended(status: Int32)
    case killed(signal: Int32)

    /// Follows its name.
    package var description: String {
      switch self {
      case .notFound: "is not installed"
      case .cannotStart(let code): "can't be started: \(String(cString: strerror(code)))"
      case .timeout(let seconds): "has not ended within \(seconds) s"
      case .tooMuchOutput: "prints too much"
      case .ended(let status): "ended with \(status)"
      case .killed(let signal): "was ended by signal \(signal)"
      }
    }
  }

  /// What a raised signal leaves.
  package struct Stopped: Error {}

  /// Between two looks at a program that has closed its output and runs on.
  private static let endPoll = Duration.milliseconds(10)

  /// - Parameter signal: ends the program at once.
  /// - Returns: what it has printed, when it ended with 0.
  /// - Throws: `Failure`, `Stopped`.
  package func output(until signal: WakeSignal?) throws -> [UInt8] {
    let deadline = ContinuousClock.now + timeout
    var ends: (read: Int32, write: Int32) = (-1, -1)
    let made = withUnsafeMutableBytes(of: &ends) { pipe($0.bindMemory(to: Int32.self).baseAddress) }
    guard made == 0 else { throw Failure.cannotStart(errno) }
    defer { close(ends.read) }
    let (identifier, code) = spawn(output: ends.write)
    close(ends.write)
    guard code == 0 else { throw code == ENOENT || code == ENOTDIR ? Failure.notFound : .cannotStart(code) }
    var status: Int32 = 0
    let output: Result<[UInt8], any Error> = Result {
      let output = try read(ends.read, until: deadline, signal)
      try waitForEnd(of: identifier, until: deadline, signal)
      return output
    }
    // Its number is its own until it is waited for.
    kill(-identifier, SIGKILL)
    while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
    let bytes = try output.get()
    guard status & 0x7F == 0 else { throw Failure.killed(signal: status & 0x7F) }
    let exit = status >> 8 & 0xFF
    guard exit == 0 else { throw Failure.ended(status: exit) }
    return bytes
  }

  // MARK: Its output and its end

  private func read(_ descriptor: Int32, until deadline: ContinuousClock.Instant, _ signal: WakeSignal?) throws
    -> [UInt8]
  {
    var output: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 4_096)
    while true {
      try check(deadline, signal)
      var polled = [descriptor, signal?.descriptor ?? -1].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
      _ = poll(&polled, nfds_t(polled.count), (deadline - .now).pollMilliseconds)
      guard polled[0].revents != 0 else { continue }
      let count = Glibc.read(descriptor, &part, part.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return output }
      output += part[..<count]
      guard output.count <= mostOutput else { throw Failure.tooMuchOutput }
    }
  }

  /// Nearly always it has ended when its output has. Does not take its number away.
  private func waitForEnd(of identifier: pid_t, until deadline: ContinuousClock.Instant, _ signal: WakeSignal?) throws {
    while true {
      var information = siginfo_t()
      let code = waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT | WNOHANG)
      if code == 0, information.si_signo == SIGCHLD { return }
      guard code == 0 || errno == EINTR else { return }
      try check(deadline, signal)
      WakeSignal.wait(for: signal.map { [$0] } ?? [], within: Self.endPoll)
    }
  }

  private func check(_ deadline: ContinuousClock.Instant, _ signal: WakeSignal?) throws {
    if signal?.isRaised == true { throw Stopped() }
    guard ContinuousClock.now < deadline else { throw Failure.timeout(seconds: timeout.components.seconds) }
  }

  // MARK: Making it

  private func spawn(output: Int32) -> (identifier: pid_t, error: Int32) {
    guard let program = command.first else { return (0, ENOENT) }
    var start = ProcessStart(program: program, arguments: Array(command.dropFirst()), environment: environment())
    start.searchesPath = true
    (start.input, start.output) = (input, .descriptor(output))
    if showsErrors { start.error = .inherited }
    return start.start()
  }

  private func environment() -> [String] {
    var result: [String] = []
    var next = environ
    while let entry = next.pointee {
      let text = String(cString: entry)
      if variables[String(text.prefix { $0 != "=" })] == nil { result.append(text) }
      next += 1
    }
    return result + variables.map { "\($0.key)=\($0.value)" }
  }
}
