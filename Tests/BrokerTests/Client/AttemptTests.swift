// SPDX-License-Identifier: Apache-2.0

import Broker
import TestKit
import Testing

@Suite("One connection, to see whether the broker lets us in", .timeLimit(.minutes(30)))
struct AttemptTests {
  @Test("A right login: nothing is wrong, whatever version is spoken")
  func right() async throws {
    let broker = try TestBroker(logins: [.init("keeper", role: .daemon)])
    var configuration = broker.configuration(clientID: "a", user: "keeper")
    for version in [MosquittoConfiguration.ProtocolVersion.v5, .v311] {
      configuration.protocolVersion = version
      #expect(await MosquittoClient.attempt(configuration, within: .seconds(120)) == nil)
    }
  }

  @Test("A wrong one: refused, at the first attempt")
  func wrong() async throws {
    let broker = try TestBroker(logins: [.init("keeper", role: .daemon)])
    var configuration = broker.configuration(clientID: "a", user: "keeper")
    configuration.password = "not-the-password"
    let error = await MosquittoClient.attempt(configuration, within: .seconds(120))
    #expect(error?.reason == .credentials)
  }

  @Test("Nobody there, and settings that cannot work: said at once")
  func nobody() async throws {
    let broker = try TestBroker()
    let port = broker.port
    broker.stop()
    var configuration = MosquittoConfiguration(host: "127.0.0.1", port: port, clientID: "a")
    let error = await MosquittoClient.attempt(configuration, within: .seconds(120))
    #expect(error?.reason == .nothingListens)
    configuration.password = "without a name"
    let other = await MosquittoClient.attempt(configuration, within: .seconds(120))
    #expect(other?.reason == .configuration)
  }

  @Test("A broker that says nothing is given up after the limit")
  func silent() async throws {
    let hole = try BlackHole()
    let configuration = MosquittoConfiguration(
      host: "127.0.0.1", port: hole.port, clientID: "a")
    let start = ContinuousClock.now
    let error = await MosquittoClient.attempt(configuration, within: .milliseconds(300))
    #expect(error?.reason == .noAnswer)
    // The system itself would give up after two minutes.
    #expect(start.duration(to: .now) < .seconds(100))
  }
}
