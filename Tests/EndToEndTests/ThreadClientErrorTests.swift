// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing
import ThreadNetwork

/// What calls come to that a daemon does not fulfil, in both forms, through its socket.
@Suite("Refusals of a daemon to its clients", .inTurns, .timeLimit(.minutes(30)))
struct ThreadClientErrorTests {
  private static let agent = Data(hex: "00000000000000a1")
  private static let unknown = Data(hex: "00000000000000a9")

  private struct Scene {
    let broker: TestBroker
    let installation: Installation
    let daemon: DaemonProcess
    let client: THClient
  }

  private func scene() async throws -> Scene {
    let broker = try TestBroker()
    let installation = try Installation(broker, hold: 0, more: "client_users: {\(geteuid()): hub}")
    let daemon = try await installation.start()
    return Scene(
      broker: broker, installation: installation, daemon: daemon,
      client: THClient(
        configuration: .init(storeDirectory: installation.storePath, asksOnTerminal: false)))
  }

  /// The error of a call with `await`.
  private func error(_ call: () async throws -> Void) async -> THError? {
    do {
      try await call()
      return nil
    } catch {
      return error as? THError
    }
  }

  /// The error of a call with a handler, which gets nothing else.
  private func error<R: Sendable>(
    _ call: (@escaping @Sendable (R?, (any Error)?) -> Void) -> Void
  ) async -> THError? {
    await withCheckedContinuation { done in
      call { value, error in done.resume(returning: value == nil ? error as? THError : nil) }
    }
  }

  private func end(
    _ call: (@escaping @Sendable ((any Error)?) -> Void) -> Void
  ) async -> THError? {
    await withCheckedContinuation { done in call { done.resume(returning: $0 as? THError) } }
  }

  private func expect(_ errors: [THError?], _ reason: THError.Code, _ answer: String) {
    for error in errors {
      #expect(error?.reason == reason && error?.code == reason.rawValue)
      #expect(error?.domain == "THErrorDomain")
      #expect(error?.answerCode == answer)
    }
  }

  @Test("A person refuses: code 15, whichever of the three calls, in both forms")
  func refused() async throws {
    let scene = try await scene()
    let client = scene.client
    let home = try ThreadNetwork("home")
    let network = Data(hex: home.extendedPANID)
    let publisher = try await TestPublisher.start(scene.broker)
    try await publisher.publish([BorderRouter(number: 7).announces(try home.hex())])
    try await eventually("the network") { await client.isPreferredAvailable() }
    let calls: [(@Sendable () async throws -> Void)] = [
      { _ = try await client.preferredCredentials() },
      { _ = try await client.credentials(forExtendedPANID: network) },
      { _ = try await client.activeCredentialsForNearbyNetworks },
    ]
    for call in calls {
      async let refused = error(call)
      var id: String?
      try await eventually("a question") {
        id = try await scene.installation.json("consent", "list")["pending"]?.list.first?["id"]?
          .text
        return id != nil
      }
      #expect(try await scene.installation.command("consent", "deny", id ?? "").status == 0)
      expect([await refused], .refused, "consent_denied")
    }
    // The same question again is refused without a person.
    expect(
      [
        await error { client.retrievePreferredCredentials($0) },
        await error { client.retrieveCredentials(forExtendedPANID: network, completion: $0) },
        await error { client.retrieveActiveCredentialsForNearbyNetworks(completion: $0) },
      ], .refused, "consent_denied")
    #expect(THError.Code.refused.rawValue == 15)
    #expect(try await scene.daemon.stop() == .exit(0))
  }

  @Test("What is not there, and what is another team's: an error, and nothing changes")
  func notThere() async throws {
    let scene = try await scene()
    let client = scene.client
    let home = try Data(hex: ThreadNetwork("home").hex())
    expect(
      [await error { _ = try await client.preferredCredentials() }], .noPreferredNetwork,
      "not_found")
    expect(
      [await error { client.retrievePreferredCredentials($0) }], .noPreferredNetwork, "not_found")
    #expect(try await client.activeCredentialsForNearbyNetworks.isEmpty)

    try await client.storeCredentials(forBorderAgent: Self.agent, activeOperationalDataSet: home)
    let before = try await client.allCredentials()
    let network = Data(repeating: 9, count: 8)
    let missing = [
      await error { try await client.deleteCredentials(forBorderAgent: Self.unknown) },
      await end { client.deleteCredentials(forBorderAgent: Self.unknown, completion: $0) },
      await error { _ = try await client.credentials(forBorderAgentID: Self.unknown) },
      await error { client.retrieveCredentials(forBorderAgent: Self.unknown, completion: $0) },
      await error { _ = try await client.credentials(forExtendedPANID: network) },
      await error { client.retrieveCredentials(forExtendedPANID: network, completion: $0) },
    ]
    expect(missing, .notFound, "not_found")

    let other = BorderRouter(number: 7)
    let id = Data(hex: other.agent)
    let publisher = try await TestPublisher.start(scene.broker)
    try await publisher.publish([other.announces(try ThreadNetwork("other").hex())])
    try await eventually("the other team's router") {
      try await scene.installation.json("routers").list.first?["credentials"] == "stored"
    }
    let foreign = [
      await error {
        try await client.storeCredentials(forBorderAgent: id, activeOperationalDataSet: home)
      },
      await end {
        client.storeCredentials(forBorderAgent: id, activeOperationalDataSet: home, completion: $0)
      },
      await error { try await client.deleteCredentials(forBorderAgent: id) },
      await end { client.deleteCredentials(forBorderAgent: id, completion: $0) },
    ]
    expect(foreign, .notAuthorized, "not_authorized")
    #expect(try await client.allCredentials() == before)
    #expect(await client.isPreferred(forActiveOperationalDataset: home))
    #expect(try await scene.daemon.stop() == .exit(0))
  }

  @Test("A dataset that is refused: rule, TLV and offset, and nothing is stored or true")
  func invalid() async throws {
    let scene = try await scene()
    let client = scene.client
    let home = try ThreadNetwork("home")
    let hex = try home.hex()
    // The network key's length is one byte short of what it should be, and so is the dataset.
    let place = try #require(hex.range(of: "0510"))
    let short = hex.replacingCharacters(in: place, with: "050f").replacingOccurrences(
      of: home.networkKey.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(),
      with: String(repeating: "7", count: 30))
    let offset = hex.distance(from: hex.startIndex, to: place.lowerBound) / 2
    let wrong = Data(hex: short)
    let errors = [
      await error {
        try await client.storeCredentials(
          forBorderAgent: Self.agent, activeOperationalDataSet: wrong)
      },
      await end {
        client.storeCredentials(
          forBorderAgent: Self.agent, activeOperationalDataSet: wrong, completion: $0)
      },
      await error { _ = try await client.preferredMatch(forActiveOperationalDataset: wrong) },
    ]
    expect(errors, .invalidDataset, "bad_length")
    for error in errors {
      #expect(error?.tlv == "Network Key" && error?.offset == offset)
      #expect(error?.localizedDescription.contains("byte \(offset)") == true)
    }
    #expect(await !client.isPreferred(forActiveOperationalDataset: wrong))
    let isPreferred = await withCheckedContinuation { done in
      client.checkPreferredNetwork(forActiveOperationalDataset: wrong) {
        done.resume(returning: $0)
      }
    }
    #expect(!isPreferred)
    #expect(try await client.allCredentials().isEmpty)
    #expect(await !client.isPreferredAvailable())
    #expect(try await scene.daemon.stop() == .exit(0))
  }

  @Test("Sharing by a code is not supported: code 12, in both forms")
  func sharing() async throws {
    let scene = try await scene()
    let client = scene.client
    let network = Data(repeating: 9, count: 8)
    expect(
      [
        await error { try await client.enableCredentialSharingMode(forExtendedPANID: network) },
        await end { client.enableCredentialSharingMode(forExtendedPANID: network, completion: $0) },
      ], .unsupported, "unsupported")
    #expect(THError.Code.unsupported.rawValue == 12)
    #expect(try await scene.daemon.stop() == .exit(0))
  }
}
