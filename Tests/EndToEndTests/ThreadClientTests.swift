// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing
import ThreadNetwork

/// Programs that use the module `ThreadNetwork`, and a daemon that is a process of its own.
@Suite("Clients of a daemon", .inTurns, .timeLimit(.minutes(30)))
struct ThreadClientTests {
  private static let agent = Data(hex: "00000000000000a1")
  private static let other = Data(hex: "00000000000000a2")

  private func client(_ installation: Installation) -> THClient {
    THClient(configuration: .init(storeDirectory: installation.storePath, confirmConsent: nil))
  }

  private func code(_ body: () async throws -> Void) async -> THError.Code? {
    do {
      try await body()
      return nil
    } catch {
      return (error as? THError)?.reason
    }
  }

  @Test("Each call, through the socket; routers of the own team are active")
  func calls() async throws {
    let broker = try TestBroker()
    let installation = try Installation(
      broker, hold: 0,
      more: "teams: {hub: [border-router]}\nclient_users: {\(geteuid()): hub}")
    let audience = try await Audience.start(broker)
    let daemon = try await installation.start()
    let client = client(installation)
    let home = try ThreadNetwork("home")
    let guest = try ThreadNetwork("guest")
    let dataset = try Data(hex: home.hex())
    #expect(await !client.isPreferredAvailable())
    #expect(
      try await client.preferredMatch(forActiveOperationalDataset: dataset) == .noPreferredNetwork)

    // Stored by a program, and by a border router of the same team.
    try await client.storeCredentials(
      forBorderAgent: Self.agent, activeOperationalDataSet: dataset)
    try await client.storeCredentials(
      forBorderAgent: Self.other, activeOperationalDataSet: dataset)
    let router = BorderRouter(number: 7)
    let publisher = try await TestPublisher.start(broker)
    try await publisher.publish([router.announces(try guest.hex())])
    try await audience.until("the router") {
      $0.state(router.topic)?["credentials"] == "stored"
    }

    #expect(await client.isPreferredAvailable())
    #expect(await client.isPreferred(forActiveOperationalDataset: dataset))
    #expect(try await !client.isPreferred(forActiveOperationalDataset: Data(hex: guest.hex())))

    let all = try await client.allCredentials()
    #expect(all.count == 3)
    #expect(Set(all.compactMap(\.networkName)) == ["home", "guest"])
    let active = try await client.allActiveCredentials()
    #expect(active.map(\.borderAgentID) == [Data(hex: router.agent)])
    let one = try await client.credentials(forBorderAgentID: Self.agent)
    #expect(one.networkKey == Data(home.networkKey))
    #expect(one.pskc == Data(home.pskc))
    #expect(one.creationDate != nil)

    try await client.deleteCredentials(forBorderAgent: Self.agent)
    try await client.deleteCredentials(forBorderAgent: Self.other)
    #expect(
      await code { try await client.deleteCredentials(forBorderAgent: Self.agent) } == .notFound)
    #expect(
      await code { _ = try await client.credentials(forBorderAgentID: Self.agent) } == .notFound)
    #expect(try await client.allCredentials() == active)
    #expect(await client.isPreferred(forActiveOperationalDataset: dataset))
    #expect(
      await code {
        try await client.enableCredentialSharingMode(
          forExtendedPANID: Data(hex: home.extendedPANID))
      } == .unsupported)
    #expect(try await daemon.stop() == .exit(0))
  }

  /// Decides what waits for consent, as the daemon's owner does at a command line.
  private func decide(_ verb: String, _ installation: Installation) async throws {
    var id: String?
    try await eventually("a question") {
      id = try await installation.json("consent", "list")["pending"]?.list.first?["id"]?.text
      return id != nil
    }
    #expect(try await installation.command("consent", verb, id ?? "").status == 0)
  }

  @Test("What needs consent is told once the daemon's owner agrees, and never before")
  func consent() async throws {
    let broker = try TestBroker()
    let installation = try Installation(
      broker, hold: 0, more: "client_users: {\(geteuid()): hub}")
    let daemon = try await installation.start()
    let router = BorderRouter(number: 7)
    let publisher = try await TestPublisher.start(broker)
    let home = try ThreadNetwork("home")
    let dataset = try Data(hex: home.hex())
    let network = Data(hex: home.extendedPANID)
    try await publisher.publish([router.announces(try home.hex())])
    let client = client(installation)
    try await eventually("the network") { await client.isPreferredAvailable() }
    #expect(try await client.allCredentials().isEmpty)
    #expect(await client.isPreferred(forActiveOperationalDataset: dataset))

    async let preferred = client.preferredCredentials()
    try await decide("approve", installation)
    #expect(try await preferred.activeOperationalDataSet == dataset)
    async let ofNetwork = client.credentials(forExtendedPANID: network)
    try await decide("approve", installation)
    #expect(try await ofNetwork.networkKey == Data(home.networkKey))
    async let nearby = client.activeCredentialsForNearbyNetworks
    try await decide("approve", installation)
    #expect(try await nearby.map(\.borderAgentID) == [Data(hex: router.agent)])

    async let refused = code { _ = try await client.preferredCredentials() }
    try await decide("deny", installation)
    #expect(await refused == .refused)
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("What a program has stored by itself is there when a daemon runs, and the other way round")
  func ownStore() async throws {
    let broker = try TestBroker()
    let installation = try Installation(broker, hold: 0)
    let first = try await installation.start()
    let home = try Data(hex: ThreadNetwork("home").hex())
    let configuration = THClient.Configuration(
      storeDirectory: installation.storePath, keyFile: installation.directory.file("store.key"),
      confirmConsent: nil)
    let client = THClient(configuration: configuration)
    try await client.storeCredentials(forBorderAgent: Self.agent, activeOperationalDataSet: home)
    #expect(try await first.stop() == .exit(0))
    try await client.storeCredentials(forBorderAgent: Self.other, activeOperationalDataSet: home)
    #expect(try await client.allCredentials().count == 2)
    let second = try await installation.start()
    #expect(try await client.allCredentials().count == 2)
    #expect(try await client.allActiveCredentials().isEmpty)
    #expect(await client.isPreferred(forActiveOperationalDataset: home))
    #expect(try await second.stop() == .exit(0))
    let report = try installation.verify()
    #expect(report.isWhole && report.matchesManifest && report.unreadable.isEmpty)
  }

  @Test("A daemon that is killed in the middle of a call: the next one answers it")
  func killed() async throws {
    let broker = try TestBroker()
    let installation = try Installation(broker, hold: 0)
    let first = try await installation.start()
    let home = try Data(hex: ThreadNetwork("home").hex())
    let client = THClient(
      configuration: .init(
        socket: installation.socketPath, confirmConsent: nil))
    #expect(try await client.allCredentials().isEmpty)
    // It takes the call, and does nothing with it.
    try await first.suspend()
    let call = Task {
      try await client.storeCredentials(
        forBorderAgent: Self.agent, activeOperationalDataSet: home)
    }
    try await eventually("the call") {
      try WaitingCalls.count(at: installation.socketPath) == 1
    }
    try await first.kill9()
    let second = try await installation.start()
    try await call.value
    #expect(try await client.allCredentials().map(\.borderAgentID) == [Self.agent])
    #expect(try await second.stop() == .exit(0))
  }
}
