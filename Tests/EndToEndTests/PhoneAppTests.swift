// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing
import ThreadNetwork

/// A list of credentials as an app for a phone would keep it: it knows no daemon, no teams and no sockets.
private final class CredentialList {
  var client: THClient?
  private let make: () -> THClient

  init(_ make: @escaping () -> THClient) { self.make = make }

  /// The preferred network first, which may ask a person; then the others, each border router once.
  func load() async throws -> [THCredentials] {
    client = make()
    defer { client = nil }
    guard let client else { return [] }
    let preferred = try await client.preferredCredentials()
    let others = try await client.allCredentials().filter {
      $0.borderAgentID != preferred.borderAgentID
    }
    return [preferred] + others.sorted { ($0.networkName ?? "") < ($1.networkName ?? "") }
  }

  func save(_ address: Data, _ dataset: Data, then: @escaping @Sendable (NSError?) -> Void) {
    client = make()
    nonisolated(unsafe) let list = self
    client?.storeCredentials(forBorderAgent: address, activeOperationalDataSet: dataset) { error in
      list.client = nil
      then(error as NSError?)
    }
  }

  func remove(_ address: Data, then: @escaping @Sendable (NSError?) -> Void) {
    client = make()
    nonisolated(unsafe) let list = self
    client?.deleteCredentials(forBorderAgent: address) { error in
      list.client = nil
      then(error as NSError?)
    }
  }
}

@Suite("An app that was written for a phone, and a daemon", .inTurns, .timeLimit(.minutes(30)))
struct PhoneAppTests {
  private func outcome(_ call: (@escaping @Sendable (NSError?) -> Void) -> Void) async -> Int? {
    await withCheckedContinuation { done in call { done.resume(returning: $0?.code) } }
  }

  @Test("It saves, loads once a person agrees, merges by border agent, and removes")
  func life() async throws {
    let broker = try TestBroker()
    let installation = try Installation(
      broker, hold: 0, more: "client_users: {\(geteuid()): phone}")
    let daemon = try await installation.start()
    let list = CredentialList { [path = installation.storePath] in
      THClient(configuration: .init(storeDirectory: path, asksOnTerminal: false))
    }
    func decide(_ verb: String) async throws {
      var id: String?
      try await eventually("a question") {
        id = try await installation.json("consent", "list")["pending"]?.list.first?["id"]?.text
        return id != nil
      }
      #expect(try await installation.command("consent", verb, id ?? "").status == 0)
    }
    let kitchen = Data(hex: "00000000000000a1")
    let attic = Data(hex: "00000000000000a2")
    let home = try Data(hex: ThreadNetwork("home").hex())
    let guest = try Data(hex: ThreadNetwork("guest").hex())
    for (address, dataset) in [(kitchen, home), (attic, guest)] {
      #expect(await outcome { list.save(address, dataset, then: $0) } == nil)
      #expect(list.client == nil)
    }
    let person = Task { try await decide("approve") }
    let rows = try await list.load()
    try await person.value
    #expect(rows.map(\.borderAgentID) == [kitchen, attic])
    #expect(rows.map(\.activeOperationalDataSet) == [home, guest])
    #expect(rows.map(\.networkName) == ["home", "guest"])
    #expect(list.client == nil)

    #expect(await outcome { list.remove(attic, then: $0) } == nil)
    #expect(await outcome { list.remove(attic, then: $0) } == THError.Code.notFound.rawValue)
    #expect(list.client == nil)
    let other = Task { try await decide("deny") }
    do {
      _ = try await list.load()
      Issue.record("it was told without consent")
    } catch {
      #expect((error as NSError).code == 15)
    }
    try await other.value
    #expect(list.client == nil)
    #expect(try await daemon.stop() == .exit(0))
  }
}
