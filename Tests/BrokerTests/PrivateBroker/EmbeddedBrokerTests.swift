import Foundation
import TestKit
import Testing

@testable import Broker

/// Where a private broker of a test's own lies: nothing is there before its start.
final class OwnDirectory: Sendable {
  private let directory: TemporaryDirectory
  var path: String { directory.file("broker") }

  init() throws { directory = try TemporaryDirectory() }

  /// A broker in it that is not started.
  func broker(
    _ logins: [EmbeddedBrokerConfiguration.Login] = [], _ change: (inout EmbeddedBrokerConfiguration) -> Void = { _ in }
  ) -> EmbeddedBroker {
    var configuration = EmbeddedBrokerConfiguration(directory: path, logins: logins)
    change(&configuration)
    return EmbeddedBroker(configuration)
  }

  /// Writes a file into it before a start.
  func put(_ text: String, in name: String) throws {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    try text.write(toFile: "\(path)/\(name)", atomically: true, encoding: .utf8)
  }

  func text(_ name: String) throws -> String { try String(contentsOfFile: "\(path)/\(name)", encoding: .utf8) }
}

@Suite("The private broker", .timeLimit(.minutes(30))) struct EmbeddedBrokerTests {
  private let directory: OwnDirectory

  init() throws { directory = try OwnDirectory() }

  @Test("It starts, lets its logins in, stops, and leaves nothing behind") func life() async throws {
    let broker = directory.broker(EmbeddedBrokerConfiguration.Login.home)
    try broker.start()
    let identifier = try #require(broker.processIdentifier)
    #expect(broker.isRunning && BrokerEndTests.isAlive(identifier))
    #expect(Set(try #require(broker.password(of: "threadkeeper"))).count > 8)
    #expect(broker.password(of: "nobody") == nil)
    let client = TestClient(
      MosquittoConfiguration(
        host: "127.0.0.1", port: broker.port, clientID: "c", username: "monitor",
        password: broker.password(of: "monitor")))
    try await client.ready()

    broker.stop(removingFiles: true)
    #expect(!broker.isRunning && broker.processIdentifier == nil)
    #expect(!BrokerEndTests.isAlive(identifier))
    #expect(!FileManager.default.fileExists(atPath: directory.path))
    broker.stop()
  }

  @Test("Nobody else can read its files, and no password stands in the configuration") func privacy() throws {
    let broker = directory.broker(EmbeddedBrokerConfiguration.Login.home)
    try broker.start()
    defer { broker.stop() }
    let files = FileManager.default
    let names = try files.subpathsOfDirectory(atPath: directory.path)
    #expect(names.contains("clients/border-router/mosquitto_pub"))
    for path in [directory.path] + names.map({ "\(directory.path)/\($0)" }) {
      let mode = try mode(path)
      #expect(mode & 0o077 == 0, "\(path) has mode \(String(mode, radix: 8))")
    }
    let password = try #require(broker.password(of: "border-router"))
    for name in ["mosquitto.conf", "acl", "passwords", "mosquitto.log"] {
      #expect(try !directory.text(name).contains(password), "\(name)")
    }
    let process = try #require(broker.processIdentifier)
    let command = try String(contentsOfFile: "/proc/\(process)/cmdline", encoding: .utf8)
    #expect(!command.contains(password))
  }

  @Test("Mosquitto's tools need no password; it, the port and queued messages are kept from run to run")
  func secondRun() async throws {
    let first = directory.broker(EmbeddedBrokerConfiguration.Login.home)
    try first.start()
    var session = MosquittoConfiguration(
      host: "127.0.0.1", port: first.port, clientID: "keeper", username: "threadkeeper",
      password: first.password(of: "threadkeeper"), sessionExpiry: 3600, subscriptions: [.init("threadkeeper/in/#")])
    let away = TestClient(session)
    try await away.ready()
    try await away.stop()
    let event = ["-q", "1", "-t", "threadkeeper/in/border-router/announce", "-m", "hello"]
    for (tool, user, arguments) in [
      ("mosquitto_pub", "border-router", event), ("mosquitto_sub", "monitor", ["-E", "-t", "threadkeeper/#"]),
    ] {
      try Program.check(tool, arguments, environment: ["XDG_CONFIG_HOME": first.clientConfigurationHome(of: user)])
      let withoutLogin = try Program.run(
        tool, arguments + ["-p", "\(first.port)"],
        environment: ["XDG_CONFIG_HOME": "/dev/null/none", "HOME": "/dev/null/none"])
      #expect(withoutLogin.status != 0, "\(tool)")
    }
    first.stop()

    let second = directory.broker(EmbeddedBrokerConfiguration.Login.home)
    try second.start()
    defer { second.stop() }
    #expect(second.port == first.port)
    #expect(second.password(of: "border-router") == first.password(of: "border-router"))
    session.port = second.port
    let back = TestClient(session)
    try await eventually { back.handler.messages.map(\.payload) == [Array("hello".utf8)] }
  }

  // MARK: What keeps it from a start

  private func error(_ broker: EmbeddedBroker) throws -> EmbeddedBrokerError {
    let error = try #require(throws: EmbeddedBrokerError.self) { try broker.start() }
    #expect(!broker.isRunning)
    return error
  }

  @Test("Two of one directory: the second one says that the first is there") func twice() throws {
    let first = directory.broker()
    try first.start()
    #expect(try error(directory.broker()).reason == .alreadyRunning)
    #expect(first.isRunning)
    first.stop()
    let third = directory.broker()
    try third.start()
    third.stop()
  }

  @Test("A port that is taken is named; one that was kept is given up for a free one") func takenPort() throws {
    let fake = try FakeBroker()
    let error = try error(directory.broker { $0.port = fake.port })
    #expect(error.reason == .portTaken && error.message.contains(":\(fake.port)"))
    try directory.put("\(fake.port)\n", in: "port")
    let broker = directory.broker()
    try broker.start()
    #expect(broker.port != fake.port)
    broker.stop()
  }

  @Test("Nonsense in its configuration: the end of the log is shown; no program: what to install") func cannotRun()
    throws
  {
    let nonsense = try error(directory.broker { $0.extraConfiguration = ["nonsense true"] })
    #expect(nonsense.reason == .died && nonsense.message.contains("nonsense"))
    let none = try error(directory.broker { $0.program = "/dev/null/mosquitto" })
    #expect(none.reason == .programMissing && none.message.contains("apt install mosquitto"))
  }

  // MARK: Its directory

  private func mode(_ path: String) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    return try #require(attributes[.posixPermissions] as? Int)
  }

  /// Makes it, for everybody to read.
  private func makeReadable() throws {
    try FileManager.default.createDirectory(atPath: directory.path, withIntermediateDirectories: false)
    chmod(directory.path, 0o755)
  }

  @Test("One that is there gets mode 0700, when it is this user's") func own() throws {
    try makeReadable()
    try PrivateFile.makeDirectory(directory.path)
    #expect(try mode(directory.path) == 0o700)
  }

  @Test("One of another user is refused by name, and left as it is, also for root") func foreign() throws {
    // Only root can give a directory away; for other users the system's own are another's.
    var path = "/usr"
    if geteuid() == 0 {
      try makeReadable()
      path = directory.path
      try #require(chown(path, 65_534, 65_534) == 0)
    }
    let error = #expect(throws: EmbeddedBrokerError.self) { try PrivateFile.makeDirectory(path) }
    #expect(error?.reason == .directory)
    #expect(error?.message.contains("it belongs to user") == true, "\(String(describing: error))")
    #expect(try mode(path) == 0o755)
  }
}
