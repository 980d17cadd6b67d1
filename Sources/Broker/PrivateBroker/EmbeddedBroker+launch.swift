// SPDX-License-Identifier: Apache-2.0

import Glibc

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
      do throws(EmbeddedBrokerError) {
        return try launch(program, port: port)
      } catch {
        // Between our look and the broker's start the port may have been taken.
        guard error.reason == .portTaken, configuration.port == nil, tries < 5 else { throw error }
      }
    }
  }

  private func launch(_ program: String, port: UInt16) throws(EmbeddedBrokerError) {
    try directory.writeConfiguration(configuration, port: port)
    try directory.writeLogins(state.withLock { $0.passwords }, port: port)
    try PrivateFile.write("\(port)\n", to: directory.portFile)
    let process = try BrokerProcess(command(program))
    try PrivateFile.write("\(process.identifier)\n", to: directory.processFile)
    do throws(EmbeddedBrokerError) {
      try waitUntilReady(process, port: port)
    } catch {
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

  private func waitUntilReady(
    _ process: BrokerProcess, port: UInt16
  ) throws(EmbeddedBrokerError) {
    let passwords = state.withLock { $0.passwords }
    let login = configuration.logins.first.map { ($0.name, passwords[$0.name] ?? "") }
    let deadline = ContinuousClock.now + configuration.startLimit
    while ContinuousClock.now < deadline {
      if let status = process.status {
        let log = directory.logTail
        if log.contains("Address already in use") { throw .portTaken(port, log: log) }
        throw .died(Self.text(status: status), log: log)
      }
      if process.listens(on: port), ListenerProbe.isReady(port: port, login: login) { return }
      usleep(5000)
    }
    throw .notReady(configuration.startLimit.components.seconds, log: directory.logTail)
  }

  /// With util-linux, the kernel ends the broker when we are gone, however we went. The shell in
  /// between closes a gap: were we gone before the kernel was asked, its parent would not be us.
  private func command(_ program: String) -> BrokerProcess.Command {
    let broker = [program, "-c", directory.configurationFile]
    guard let setpriv = try? Self.find("setpriv", package: "util-linux", nil) else {
      return BrokerProcess.Command(
        program: program, arguments: Array(broker.dropFirst()), logFile: directory.logFile)
    }
    return BrokerProcess.Command(
      program: setpriv,
      arguments: [
        "--pdeathsig", "TERM", "/bin/sh", "-c", #"[ "$PPID" -eq "$0" ] && exec "$@""#,
        "\(getpid())",
      ] + broker,
      logFile: directory.logFile)
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
    guard let text = PrivateFile.read(directory.processFile),
      let identifier = pid_t(text.filter(\.isNumber)), identifier > 1
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
    PrivateFile.read("/proc/\(identifier)/cmdline")?.contains(directory.configurationFile)
      ?? false
  }

  /// The path of a program.
  static func find(
    _ name: String, package: String, _ given: String?
  ) throws(EmbeddedBrokerError) -> String {
    if let given {
      guard access(given, X_OK) == 0 else { throw .programMissing(given, package: package) }
      return given
    }
    let path = getenv("PATH").map { String(cString: $0) } ?? ""
    // A user's PATH often lacks the directories for daemons.
    let directories =
      path.split(separator: ":").map(String.init)
      + ["/usr/sbin", "/usr/local/sbin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/sbin"]
    for directory in directories where access("\(directory)/\(name)", X_OK) == 0 {
      return "\(directory)/\(name)"
    }
    throw .programMissing(name, package: package)
  }
}

/// Asks a broker the shortest question of MQTT: may I come in?
///
/// ```
/// CONNECT  10 len 00 04 'M' 'Q' 'T' 'T' 04 flags keepalive(2)  client id, user name, password
/// CONNACK  20 02 flags code                                    (MQTT 3.1.1, sections 3.1 and 3.2)
/// ```
/// That the login which was just made up is let in proves that the broker has read its files.
enum ListenerProbe {
  static func isReady(port: UInt16, login: (name: String, password: String)?) -> Bool {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    var limit = timeval(tv_sec: 1, tv_usec: 0)
    for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
      setsockopt(
        descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
    }
    var address = sockaddr_in.loopback(port)
    let connected = withUnsafeBytes(of: &address) {
      Glibc.connect(
        descriptor, $0.bindMemory(to: sockaddr.self).baseAddress, socklen_t($0.count))
    }
    guard connected == 0 else { return false }
    let packet = question(login)
    guard send(descriptor, packet, packet.count, Int32(MSG_NOSIGNAL)) == packet.count
    else { return false }
    var answer = [UInt8](repeating: 0xFF, count: 4)
    guard recv(descriptor, &answer, 4, Int32(MSG_WAITALL)) == 4 else { return false }
    let disconnect: [UInt8] = [0xE0, 0]
    _ = send(descriptor, disconnect, disconnect.count, Int32(MSG_NOSIGNAL))
    return answer[0] == 0x20 && answer[3] == 0
  }

  private static func question(_ login: (name: String, password: String)?) -> [UInt8] {
    // Clean session; user name and password.
    let flags: UInt8 = login == nil ? 0x02 : 0xC2
    var body = string("MQTT") + [4, flags, 0, 10] + string("threadkeeper-probe")
    if let login { body += string(login.name) + string(login.password) }
    // Names have at most 200 bytes and passwords are short, so two bytes of length suffice.
    return [0x10, UInt8(body.count & 0x7F) | 0x80, UInt8(body.count >> 7 & 0x7F)] + body
  }

  private static func string(_ text: String) -> [UInt8] {
    let bytes = Array(text.utf8)
    return [UInt8(bytes.count >> 8 & 0xFF), UInt8(bytes.count & 0xFF)] + bytes
  }
}
