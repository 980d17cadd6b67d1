import Glibc
import Synchronization

extension EmbeddedBroker {
  /// Finds the port and starts the program until it listens.
  func launch(_ program: String) throws(EmbeddedBrokerError) {
    let wanted = configuration.port ?? [port, directory.keptPort ?? 0].first { $0 != 0 }
    var tries = 0
    while true {
      tries += 1
      let port: UInt16
      if let wanted, configuration.port != nil || (tries == 1 && LoopbackPort.isFree(wanted)) {
        port = wanted
      } else {
        port = try LoopbackPort.free()
      }
      do throws(EmbeddedBrokerError) { return try launch(program, port: port) } catch {
        // Between our look and the broker's start the port may have been taken.
        guard error.reason == .portTaken, configuration.port == nil, tries < 5 else { throw error }
      }
    }
  }

  private func launch(_ program: String, port: UInt16) throws(EmbeddedBrokerError) {
    try directory.writeConfiguration(configuration, port: port)
    try directory.writeLogins(state.withLock { $0.passwords }, port: port)
    try PrivateFile.write("\(port)\n", to: directory.portFile)
    let process = try BrokerProcess(
      BrokerProcess.Command(
        program: program, arguments: ["-c", directory.configurationFile], logFile: directory.logFile))
    try PrivateFile.write("\(process.identifier)\n", to: directory.processFile)
    do throws(EmbeddedBrokerError) { try waitUntilReady(process, port: port) } catch {
      process.signal(SIGKILL)
      _ = process.waitForEnd(within: .seconds(5))
      throw error
    }
    // It lets the group in, which cannot come that far.
    if let socket = directory.socket { chmod(socket, 0o600) }
    state.withLock {
      $0.process = process
      $0.port = port
      $0.isStopping = false
    }
    watch(process)
  }

  private func waitUntilReady(_ process: BrokerProcess, port: UInt16) throws(EmbeddedBrokerError) {
    let deadline = ContinuousClock.now + configuration.startLimit
    while ContinuousClock.now < deadline {
      if let status = process.status {
        let log = directory.logTail
        if log.contains("Address already in use") { throw .portTaken(port, log: log) }
        throw .died(Self.text(status: status), log: log)
      }
      if directory.isLoggedAsRunning { return }
      usleep(5000)
    }
    throw .notReady(configuration.startLimit.components.seconds, log: directory.logTail)
  }

  // MARK: Who may run it

  /// One broker a directory. The kernel opens the lock when we end.
  func lock() throws(EmbeddedBrokerError) {
    try PrivateFile.makeDirectory(directory.path)
    let descriptor = open(directory.lockFile, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw .file(directory.lockFile, "open", errno) }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      close(descriptor)
      throw .alreadyRunning(directory.path)
    }
    state.withLock { $0.lock = descriptor }
  }

  func unlock() {
    let descriptor = state.withLock { state -> Int32 in
      defer { state.lock = -1 }
      return state.lock
    }
    guard descriptor >= 0 else { return }
    // Said, and not only closed: a child that another thread is just making has it open as well.
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }

  /// We hold the lock, so a broker with our configuration has lost its parent. (Where the kernel
  /// could not be asked to end it.)
  func endForgottenBroker() {
    guard let text = PrivateFile.read(directory.processFile), let identifier = pid_t(text.filter(\.isNumber)),
      identifier > 1
    else { return }
    for signal in [SIGTERM, SIGKILL] {
      let deadline = ContinuousClock.now + configuration.stopLimit
      guard isForgottenBroker(identifier) else { return }
      Glibc.kill(identifier, signal)
      while isForgottenBroker(identifier), ContinuousClock.now < deadline { usleep(5000) }
    }
  }

  /// Whether it runs with our configuration. One that has ended and that its parent never waits
  /// for keeps its number, but has no command line any more.
  private func isForgottenBroker(_ identifier: pid_t) -> Bool {
    PrivateFile.read("/proc/\(identifier)/cmdline")?.contains(directory.configurationFile) ?? false
  }

  /// The path of a program.
  static func find(_ name: String, package: String, _ given: String?) throws(EmbeddedBrokerError) -> String {
    if let given {
      guard access(given, X_OK) == 0 else { throw .programMissing(given, package: package) }
      return given
    }
    let path = getenv("PATH").map { String(cString: $0) } ?? ""
    // A user's PATH often lacks the directories for daemons.
    let directories =
      path.split(separator: ":").map(String.init) + [
        "/usr/sbin", "/usr/local/sbin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/sbin",
      ]
    for directory in directories where access("\(directory)/\(name)", X_OK) == 0 { return "\(directory)/\(name)" }
    throw .programMissing(name, package: package)
  }
}
