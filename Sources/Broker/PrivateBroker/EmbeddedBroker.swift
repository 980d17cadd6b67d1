import Glibc
import Synchronization

/// A private Mosquitto on a loopback port, for who has no broker, for demonstrations and for tests.
///
/// It ends with the process that started it, however that one ends. The functions block for as
/// long as the broker takes, some hundredths of a second.
package final class EmbeddedBroker: Sendable {
  struct State {
    var process: BrokerProcess?
    var lock: Int32 = -1
    var port: UInt16 = 0
    var passwords: [String: String] = [:]
    var isStopping = false
  }

  package let configuration: EmbeddedBrokerConfiguration
  let directory: BrokerDirectory
  let state = Mutex(State())
  private let unexpectedEnd: (@Sendable (EmbeddedBrokerError) -> Void)?

  /// - Parameter unexpectedEnd: called, on a thread of its own, when the broker ends without having
  ///   been stopped; with the end of its log.
  package init(
    _ configuration: EmbeddedBrokerConfiguration, unexpectedEnd: (@Sendable (EmbeddedBrokerError) -> Void)? = nil
  ) {
    self.configuration = configuration
    directory = BrokerDirectory(path: configuration.directory)
    self.unexpectedEnd = unexpectedEnd
  }

  deinit {
    let (process, lock) = state.withLock { ($0.process, $0.lock) }
    process?.signal(SIGKILL)
    if lock >= 0 { close(lock) }
  }

  // MARK: What one needs to know to use it

  /// 0 before the first start.
  package var port: UInt16 { state.withLock { $0.port } }

  package var isRunning: Bool { state.withLock { $0.process.map { $0.status == nil } ?? false } }

  package var processIdentifier: Int32? {
    state.withLock { $0.process.flatMap { $0.status == nil ? $0.identifier : nil } }
  }

  /// The socket in its directory, for clients of the same user; nil where the path of the directory is too long.
  package var socket: String? { directory.socket }

  package func password(of user: String) -> String? { state.withLock { $0.passwords[user] } }

  /// Set as `XDG_CONFIG_HOME`, it makes `mosquitto_pub`, `mosquitto_sub` and `mosquitto_rr` use
  /// this broker and this login.
  package func clientConfigurationHome(of user: String) -> String { directory.clientDirectory(user) }

  /// The end of the broker's log.
  package var logTail: String { directory.logTail }

  // MARK: Life

  /// Writes the files, starts the broker and waits until it runs.
  ///
  /// Starting it again after `stop` or `kill` uses the same port and passwords.
  package func start() throws(EmbeddedBrokerError) {
    guard !isRunning else { return }
    let program = try Self.find("mosquitto", package: "mosquitto", configuration.program)
    // Still held for one that has ended by itself.
    unlock()
    try lock()
    do throws(EmbeddedBrokerError) {
      endForgottenBroker()
      try prepareLogins()
      try launch(program)
    } catch {
      unlock()
      throw error
    }
  }

  /// Ends it: SIGTERM, so that it saves its state, and SIGKILL when that takes too long. Does
  /// nothing when it does not run.
  ///
  /// - Parameter removingFiles: also removes the directory with all that is in it.
  package func stop(removingFiles: Bool = false) {
    end(with: SIGTERM)
    if removingFiles { PrivateFile.remove(directory.path) }
  }

  /// Ends it as a power cut would, with SIGKILL.
  package func kill() { end(with: SIGKILL) }

  private func end(with signal: Int32) {
    let process = state.withLock { state -> BrokerProcess? in
      state.isStopping = true
      defer { state.process = nil }
      return state.process
    }
    if let process {
      process.signal(signal)
      if !process.waitForEnd(within: configuration.stopLimit) {
        process.signal(SIGKILL)
        // Nothing survives SIGKILL but a process that waits for a broken disk.
        _ = process.waitForEnd(within: .seconds(5))
      }
      unlink(directory.processFile)
    }
    unlock()
  }

  func watch(_ process: BrokerProcess) {
    process.whenEnded { [weak self, unexpectedEnd, directory] status in
      guard let self, !state.withLock({ $0.isStopping }) else { return }
      unexpectedEnd?(.died(Self.text(status: status), log: directory.logTail))
    }
  }

  static func text(status: Int32) -> String {
    status & 0x7F == 0 ? "exit code \(status >> 8 & 0xFF)" : "signal \(status & 0x7F)"
  }
}

extension EmbeddedBroker {
  /// Settles the passwords and writes the password file and the access list.
  func prepareLogins() throws(EmbeddedBrokerError) {
    guard !configuration.logins.isEmpty else { return }
    try wrapped { () throws(AccessListError) in
      for login in configuration.logins { try AccessList.check(userName: login.name) }
    }
    let kept = directory.keptPasswords
    var passwords: [String: String] = [:]
    for login in configuration.logins {
      let password = login.password ?? kept[login.name] ?? Self.randomPassword()
      guard !password.isEmpty, !password.unicodeScalars.contains(where: { $0.value < 0x20 }),
        password.utf8.count <= 1000
      else { throw .password("the password of `\(login.name)` is empty, too long or not plain text") }
      passwords[login.name] = password
    }
    state.withLock { $0.passwords = passwords }
    try writePasswordFile(passwords)
    try PrivateFile.write(accessList(), to: directory.accessListFile)
  }

  private func accessList() throws(EmbeddedBrokerError) -> String {
    func names(_ role: EmbeddedBrokerConfiguration.Login.Role) -> [String] {
      configuration.logins.filter { $0.role == role }.map(\.name)
    }
    var list = AccessList(baseTopics: AccessList.merged(configuration.baseTopics), daemons: names(.daemon))
    list.discoveryPrefix = configuration.discoveryPrefix
    list.monitors = names(.monitor)
    return try wrapped { () throws(AccessListError) in try list.text() }
  }

  private func wrapped<R>(_ body: () throws(AccessListError) -> R) throws(EmbeddedBrokerError) -> R {
    do { return try body() } catch { throw .accessList(error) }
  }

  /// Mosquitto's tool turns the clear text into salted hashes, in place. No password is seen in a
  /// list of processes.
  private func writePasswordFile(_ passwords: [String: String]) throws(EmbeddedBrokerError) {
    let tool = try Self.find("mosquitto_passwd", package: "mosquitto", nil)
    let text = passwords.keys.sorted().map { "\($0):\(passwords[$0] ?? "")\n" }.joined()
    try PrivateFile.write(text, to: directory.passwordFile)
    let process = try BrokerProcess(
      BrokerProcess.Command(program: tool, arguments: ["-U", directory.passwordFile], logFile: directory.logFile))
    guard process.waitForEnd(within: configuration.startLimit), process.status == 0 else {
      process.signal(9)
      throw .died("mosquitto_passwd failed", log: directory.logTail)
    }
  }

  /// 24 characters of 62: 142 bits from the system's generator.
  package static func randomPassword() -> String {
    let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
    var generator = SystemRandomNumberGenerator()
    return String((0..<24).map { _ in letters[Int.random(in: 0..<62, using: &generator)] })
  }
}
