// SPDX-License-Identifier: Apache-2.0

import Broker
import Foundation
import TestKit
import Testing

@Suite("A private broker that does not start as it should", .timeLimit(.minutes(30)))
struct BrokerStartTests {
  @Test("Two of one directory: the second one says that the first is there")
  func twice() throws {
    let directory = try OwnDirectory()
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
    let directory = try OwnDirectory()
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
    let directory = try OwnDirectory()
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
    let directory = try OwnDirectory()
    let broker = EmbeddedBroker(
      EmbeddedBrokerConfiguration(
        directory: directory.path, logins: [], extraConfiguration: ["nonsense true"]))
    let error = try #require(throws: EmbeddedBrokerError.self) { try broker.start() }
    #expect(error.reason == .died)
    #expect(error.message.contains("nonsense"))
  }

  @Test("A program that is not there: what to install is said")
  func noProgram() throws {
    let directory = try OwnDirectory()
    let broker = EmbeddedBroker(
      EmbeddedBrokerConfiguration(
        directory: directory.path, logins: [], program: "/dev/null/mosquitto"))
    let error = try #require(throws: EmbeddedBrokerError.self) { try broker.start() }
    #expect(error.reason == .programMissing)
    #expect(error.message.contains("apt install mosquitto"))
  }
}
