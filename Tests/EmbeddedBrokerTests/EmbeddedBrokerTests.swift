// SPDX-License-Identifier: Apache-2.0

import EmbeddedBroker
import Foundation
import MosquittoClient
import Synchronization
import TestKit
import Testing

@Suite("The private broker", .timeLimit(.minutes(2)))
struct EmbeddedBrokerTests {
  /// A directory that goes with the test.
  final class Directory: Sendable {
    let path: String
    init() throws { path = try TestBroker.temporaryDirectory() + "/broker" }
    deinit {
      try? FileManager.default.removeItem(atPath: (path as NSString).deletingLastPathComponent)
    }
  }

  static func isAlive(_ identifier: Int32) -> Bool {
    // A zombie that nobody has waited for is dead as well.
    guard let status = try? String(contentsOfFile: "/proc/\(identifier)/stat", encoding: .utf8)
    else { return false }
    return !status.contains(") Z ")
  }

  @Test("It starts, lets its logins in, stops, and leaves nothing behind")
  func life() async throws {
    let directory = try Directory()
    let broker = EmbeddedBroker(EmbeddedBrokerConfiguration(directory: directory.path))
    try broker.start()
    let identifier = try #require(broker.processIdentifier)
    #expect(broker.isRunning)
    #expect(Self.isAlive(identifier))
    #expect(Set(try #require(broker.password(of: "threadkeeper"))).count > 8)
    #expect(broker.password(of: "nobody") == nil)
    let client = TestClient(
      MosquittoConfiguration(
        host: "127.0.0.1", port: broker.port, clientID: "c", username: "monitor",
        password: broker.password(of: "monitor")))
    try await client.ready()
    try await client.stop()

    broker.stop(removingFiles: true)
    #expect(!broker.isRunning)
    #expect(broker.processIdentifier == nil)
    #expect(!Self.isAlive(identifier))
    #expect(!FileManager.default.fileExists(atPath: directory.path))
    broker.stop()
  }

  @Test("Nobody else can read its files, and no password stands in the configuration")
  func privacy() throws {
    let directory = try Directory()
    let broker = EmbeddedBroker(EmbeddedBrokerConfiguration(directory: directory.path))
    try broker.start()
    defer { broker.stop() }
    let files = FileManager.default
    var paths = try files.subpathsOfDirectory(atPath: directory.path).map {
      "\(directory.path)/\($0)"
    }
    #expect(paths.contains("\(directory.path)/clients/border-router/mosquitto_pub"))
    paths.append(directory.path)
    for path in paths {
      let attributes = try files.attributesOfItem(atPath: path)
      let mode = try #require(attributes[.posixPermissions] as? Int)
      #expect(mode & 0o077 == 0, "\(path) has mode \(String(mode, radix: 8))")
    }
    let password = try #require(broker.password(of: "border-router"))
    for name in ["mosquitto.conf", "acl", "passwords", "mosquitto.log"] {
      let text = try String(contentsOfFile: "\(directory.path)/\(name)", encoding: .utf8)
      #expect(!text.contains(password), "\(name)")
    }
    let process = try #require(broker.processIdentifier)
    let command = try String(contentsOfFile: "/proc/\(process)/cmdline", encoding: .utf8)
    #expect(!command.contains(password))
  }

  @Test("Port, passwords and queued messages are kept from run to run")
  func secondRun() async throws {
    let directory = try Directory()
    let configuration = EmbeddedBrokerConfiguration(directory: directory.path)
    let first = EmbeddedBroker(configuration)
    try first.start()
    var session = MosquittoConfiguration(
      host: "127.0.0.1", port: first.port, clientID: "keeper", username: "threadkeeper",
      password: first.password(of: "threadkeeper"), sessionExpiry: 3600,
      subscriptions: [.init("threadkeeper/in/#")])
    let away = TestClient(session)
    try await away.ready()
    try await away.stop()
    try Program.check(
      "mosquitto_pub",
      ["-q", "1", "-t", "threadkeeper/in/border-router/announce", "-m", "hello"],
      environment: ["XDG_CONFIG_HOME": first.clientConfigurationHome(of: "border-router")])
    first.stop()

    let second = EmbeddedBroker(configuration)
    try second.start()
    defer { second.stop() }
    #expect(second.port == first.port)
    #expect(second.password(of: "border-router") == first.password(of: "border-router"))
    session.port = second.port
    let back = TestClient(session)
    try await eventually { back.handler.messageCount == 1 }
    #expect(back.handler.messages.first?.payload == Array("hello".utf8))
    try await back.stop()
  }

  @Test("Every login may do what is its own, and nothing else")
  func accessList() async throws {
    let broker = try TestBroker(logins: EmbeddedBrokerConfiguration.Login.home)
    let keeper = try await TestSubscriber.start(broker, user: "threadkeeper", "threadkeeper/#")
    let monitor = try await TestSubscriber.start(broker, user: "monitor", "#")
    let router = try await TestSubscriber.start(broker, user: "border-router", "#")

    func publish(as user: String, _ topics: [String]) async throws -> [Bool] {
      let publisher = try await TestPublisher.start(broker, user: user)
      let outcomes = try await publisher.publish(
        topics.map { Publication(topic: $0, payload: Array(user.utf8)) })
      try await publisher.stop()
      return outcomes.map { $0 == .delivered }
    }
    let asRouter = try await publish(
      as: "border-router",
      [
        "threadkeeper/in/border-router/announce", "threadkeeper/in/other/announce",
        "threadkeeper/bridge/state", "threadkeeper/out/border-router/x",
      ])
    #expect(asRouter == [true, false, false, false])
    let asMonitor = try await publish(
      as: "monitor", ["threadkeeper/in/other/announce", "threadkeeper/bridge/state"])
    #expect(asMonitor == [false, false])
    let asKeeper = try await publish(
      as: "threadkeeper",
      [
        "threadkeeper/bridge/state", "threadkeeper/out/border-router/x",
        "homeassistant/device/x/config",
      ])
    #expect(asKeeper == [true, true, true])

    try await keeper.wait { $0.count == 3 }
    #expect(
      Set(keeper.messages.map(\.topic)) == [
        "threadkeeper/in/border-router/announce", "threadkeeper/bridge/state",
        "threadkeeper/out/border-router/x",
      ])
    try await monitor.wait { $0.count == 1 }
    #expect(monitor.messages.map(\.topic) == ["threadkeeper/bridge/state"])
    try await router.wait { $0.count == 1 }
    #expect(router.messages.map(\.topic) == ["threadkeeper/out/border-router/x"])
    for subscriber in [keeper, monitor, router] { try await subscriber.stop() }
  }

  @Test("Mosquitto's tools need no password on the command line")
  func tools() throws {
    let broker = try TestBroker(logins: EmbeddedBrokerConfiguration.Login.home)
    let result = try Program.run(
      "mosquitto_sub", ["-t", "threadkeeper/#", "-W", "1", "-C", "1"],
      environment: ["XDG_CONFIG_HOME": broker.broker.clientConfigurationHome(of: "monitor")])
    #expect(result.status == 27, "it only runs into its time limit: \(result.output)")
    let stranger = try Program.run(
      "mosquitto_sub", ["-p", "\(broker.port)", "-t", "#", "-W", "1"],
      environment: ["XDG_CONFIG_HOME": "/nonexistent", "HOME": "/nonexistent"])
    #expect(stranger.status != 0 && stranger.status != 27)
  }

  @Test("Two of one directory: the second one says that the first is there")
  func twice() throws {
    let directory = try Directory()
    let configuration = EmbeddedBrokerConfiguration(directory: directory.path, logins: [])
    let first = EmbeddedBroker(configuration)
    try first.start()
    let error = try #require(throws: EmbeddedBrokerError.self) {
      try EmbeddedBroker(configuration).start()
    }
    #expect(error.reason == .alreadyRunning)
    #expect(first.isRunning)
    first.stop()
    let third = EmbeddedBroker(configuration)
    try third.start()
    third.stop()
  }

  @Test("A port that is taken is named")
  func takenPort() throws {
    let fake = try FakeBroker()
    let directory = try Directory()
    let broker = EmbeddedBroker(
      EmbeddedBrokerConfiguration(directory: directory.path, port: fake.port, logins: []))
    let error = try #require(throws: EmbeddedBrokerError.self) { try broker.start() }
    #expect(error.reason == .portTaken)
    #expect(error.message.contains(":\(fake.port)"))
    #expect(!broker.isRunning)
  }

  @Test("A kept port that somebody else has by now is given up for a free one")
  func takenKeptPort() throws {
    let fake = try FakeBroker()
    let directory = try Directory()
    try FileManager.default.createDirectory(
      atPath: directory.path, withIntermediateDirectories: true)
    try "\(fake.port)\n".write(
      toFile: "\(directory.path)/port", atomically: true, encoding: .utf8)
    let broker = EmbeddedBroker(
      EmbeddedBrokerConfiguration(directory: directory.path, logins: []))
    try broker.start()
    #expect(broker.port != fake.port)
    broker.stop()
  }

  @Test("Nonsense in its configuration: the end of the log is shown")
  func badConfiguration() throws {
    let directory = try Directory()
    let broker = EmbeddedBroker(
      EmbeddedBrokerConfiguration(
        directory: directory.path, logins: [], extraConfiguration: ["nonsense true"]))
    let error = try #require(throws: EmbeddedBrokerError.self) { try broker.start() }
    #expect(error.reason == .died)
    #expect(error.message.contains("nonsense"))
  }

  @Test("A program that is not there: what to install is said")
  func noProgram() throws {
    let directory = try Directory()
    let broker = EmbeddedBroker(
      EmbeddedBrokerConfiguration(
        directory: directory.path, logins: [], program: "/nowhere/mosquitto"))
    let error = try #require(throws: EmbeddedBrokerError.self) { try broker.start() }
    #expect(error.reason == .programMissing)
    #expect(error.message.contains("apt install mosquitto"))
  }

  @Test("Its unexpected end is reported with the end of its log, an ordered one is not")
  func unexpectedEnd() async throws {
    let directory = try Directory()
    let reports = Mutex<[EmbeddedBrokerError]>([])
    let broker = EmbeddedBroker(
      EmbeddedBrokerConfiguration(directory: directory.path, logins: [])
    ) { error in reports.withLock { $0.append(error) } }
    try broker.start()
    broker.stop()
    try broker.start()
    broker.kill()
    try broker.start()
    #expect(reports.withLock { $0.isEmpty })
    kill(try #require(broker.processIdentifier), SIGKILL)
    try await eventually { reports.withLock { $0.count == 1 } }
    let error = reports.withLock { $0[0] }
    #expect(error.reason == .died)
    #expect(error.message.contains("signal 9"))
    #expect(error.message.contains("running"), "the last line of its log")
    #expect(!broker.isRunning)
    // And it can be started again.
    let port = broker.port
    try broker.start()
    #expect(broker.port == port)
    broker.stop()
  }

  @Test("It does not outlive a parent that is killed")
  func orphan() async throws {
    let directory = try Directory()
    let path = directory.path
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      let broker = EmbeddedBroker(EmbeddedBrokerConfiguration(directory: path, logins: []))
      try broker.start()
      kill(getpid(), SIGKILL)
    }
    let text = try String(contentsOfFile: "\(path)/mosquitto.pid", encoding: .utf8)
    let identifier = try #require(Int32(text.filter(\.isNumber)))
    try await eventually(within: .seconds(5), "the end of the broker") {
      !Self.isAlive(identifier)
    }
    // The lock went with the parent.
    let next = EmbeddedBroker(EmbeddedBrokerConfiguration(directory: path, logins: []))
    try next.start()
    next.stop()
  }

  @Test("A forgotten broker that nobody waits for, and that ignores SIGTERM, does not hold it up")
  func forgotten() async throws {
    for traps in ["", "trap '' TERM;"] {
      let directory = try Directory()
      try FileManager.default.createDirectory(
        atPath: directory.path, withIntermediateDirectories: true)
      // Our child, which we do not wait for until the end: it stays as a zombie.
      let ready = "\(directory.path)/ready"
      let forgotten = try Self.spawn([
        "/bin/sh", "-c", "\(traps) : > \(ready); while :; do sleep 0.1; done",
        "\(directory.path)/mosquitto.conf",
      ])
      defer {
        kill(forgotten, SIGKILL)
        waitpid(forgotten, nil, 0)
      }
      try await eventually { FileManager.default.fileExists(atPath: ready) }
      try "\(forgotten)\n".write(
        toFile: "\(directory.path)/mosquitto.pid", atomically: true, encoding: .utf8)
      let broker = EmbeddedBroker(
        EmbeddedBrokerConfiguration(
          directory: directory.path, logins: [], stopLimit: .milliseconds(500)))
      // On a thread of its own: a start that never returns must fail, not hang.
      Thread { try? broker.start() }.start()
      try await eventually("the start") { broker.isRunning }
      #expect(!Self.isAlive(forgotten))
      #expect(
        FileManager.default.fileExists(atPath: "/proc/\(forgotten)"), "else it proves nothing")
      broker.stop()
    }
  }

  static func spawn(_ arguments: [String]) throws -> pid_t {
    var copies: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
    defer { for copy in copies { free(copy) } }
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    InheritedDescriptors.close(in: &actions)
    var identifier: pid_t = 0
    let code = posix_spawn(&identifier, arguments[0], &actions, &attributes, &copies, environ)
    try #require(code == 0)
    return identifier
  }

  @Test("It lives on when the thread that started it is gone")
  func threadGone() async throws {
    let directory = try Directory()
    let broker = EmbeddedBroker(EmbeddedBrokerConfiguration(directory: directory.path, logins: []))
    var thread = pthread_t()
    let argument = Unmanaged.passRetained(broker).toOpaque()
    pthread_create(
      &thread, nil,
      { argument in
        let broker = argument.map { Unmanaged<EmbeddedBroker>.fromOpaque($0).takeRetainedValue() }
        try? broker?.start()
        return nil
      }, argument)
    pthread_join(thread, nil)
    let identifier = try #require(broker.processIdentifier)
    // By the time that a program has been run, the kernel would have ended it.
    try Program.check("mosquitto_pub", ["-p", "\(broker.port)", "-t", "t", "-m", "x"])
    #expect(broker.processIdentifier == identifier)
    broker.stop()
  }
}
