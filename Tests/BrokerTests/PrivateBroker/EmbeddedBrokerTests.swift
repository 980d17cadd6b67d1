// SPDX-License-Identifier: Apache-2.0

import Broker
import Foundation
import TestKit
import Testing

@Suite("The private broker", .timeLimit(.minutes(30)))
struct EmbeddedBrokerTests {
  @Test("It starts, lets its logins in, stops, and leaves nothing behind")
  func life() async throws {
    let directory = try OwnDirectory()
    let broker = EmbeddedBroker(EmbeddedBrokerConfiguration(directory: directory.path))
    try broker.start()
    let identifier = try #require(broker.processIdentifier)
    #expect(broker.isRunning)
    #expect(ProcessState.isAlive(identifier))
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
    #expect(!ProcessState.isAlive(identifier))
    #expect(!FileManager.default.fileExists(atPath: directory.path))
    broker.stop()
  }

  @Test("Nobody else can read its files, and no password stands in the configuration")
  func privacy() throws {
    let directory = try OwnDirectory()
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
    let directory = try OwnDirectory()
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

  @Test("Mosquitto's tools need no password on the command line")
  func tools() throws {
    let broker = try TestBroker(logins: EmbeddedBrokerConfiguration.Login.home)
    let result = try Program.run(
      "mosquitto_sub", ["-t", "threadkeeper/#", "-W", "1", "-C", "1"],
      environment: ["XDG_CONFIG_HOME": broker.broker.clientConfigurationHome(of: "monitor")])
    #expect(result.status == 27, "it only runs into its time limit: \(result.output)")
    let withoutLogin = try Program.run(
      "mosquitto_sub", ["-p", "\(broker.port)", "-t", "#", "-W", "1"],
      environment: ["XDG_CONFIG_HOME": "/dev/null", "HOME": "/dev/null"])
    #expect(withoutLogin.status != 0 && withoutLogin.status != 27)
  }
}
