// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainCore
import SQLiteDatabase
import Synchronization
import TestKit
import Testing
import ThreadDataset

@testable import Home
@testable import HomeStore
@testable import ThreadNetwork

/// A store that a daemon has left, with what people have decided there.
@Suite("Clients with the store of a daemon that does not run", .timeLimit(.minutes(30)))
struct OwnStoreConsentTests {
  private let place: OwnPlace
  private let asked = Asked()

  private final class Asked: Sendable {
    private let value = Atomic(0)
    var count: Int { value.load(ordering: .relaxed) }
    func note() { value.add(1, ordering: .relaxed) }
  }

  init() throws { place = try OwnPlace() }

  /// A program, of which a person agrees to all.
  private var client: THClient {
    let asked = asked
    return place.client { _ in
      asked.note()
      return true
    }
  }

  private static func network(_ number: Int) -> SampleNetwork {
    SampleNetwork.home.with {
      $0.extendedPANID = "111111112222220\(number)"
      $0.name = "net \(number)"
    }
  }

  /// As its daemon would.
  @discardableResult
  private func handle(
    _ change: (inout HomeRules) -> Void = { _ in },
    _ inputs: (Home, WireTime) -> [HomeInput]
  ) throws -> Home {
    let now = WireTime(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000))
    return try place.withStore { keychain in
      try SealedRecords(keychain).inTransaction { records in
        var rules = HomeRules { .random(in: .min ... .max) }
        change(&rules)
        var stored = try StoredHome("home", rules: rules, in: records)
        for input in inputs(stored.home, now) {
          _ = stored.handle(input, actor: nil, at: now)
        }
        let home = stored.home
        try stored.commit(to: records)
        return home
      }
    }
  }

  private func ask(_ requests: [HomeRequest]) throws -> Home {
    let requester = Requester(.systemUser(geteuid()), team: "own")
    return try handle { _, _ in
      requests.map { .request($0, RequestContext(requester, reply: .caller, actor: "test")) }
    }
  }

  private func decide(_ decision: (ConsentID) -> ConsentDecision.What) throws {
    try handle { home, _ in
      home.questions.map {
        .decision(ConsentDecision(decision($0.id), by: .commandLine(user: 0)))
      }
    }
  }

  private func store(_ network: SampleNetwork, _ agent: Data = Agents.kitchen) async throws {
    try await client.storeCredentials(
      forBorderAgent: agent, activeOperationalDataSet: network.bytes())
  }

  private var home: Home {
    get throws {
      try place.withStore { keychain in
        try #require(HomeSnapshot.read(SealedRecords(keychain)).homes["home"])
      }
    }
  }

  @Test("The history names the program whose person has agreed")
  func approver() async throws {
    try await store(.home)
    _ = try await client.preferredCredentials()
    #expect(asked.count == 1)
    let by = try home.decisions.last?.by
    #expect(by == .program(user: geteuid()))
    #expect(by?.shown == "uid \(geteuid()) (in the program)")
  }

  @Test("Where \"always\" was approved nobody is asked, but in an older copy of the store")
  func grant() async throws {
    try await store(.home)
    _ = try ask([.getPreferred])
    try decide { .approve($0, .always) }
    _ = try await client.preferredCredentials()
    #expect(asked.count == 0)
    let copy = place.directory.file("copy")
    try FileManager.default.copyItem(atPath: place.storePath, toPath: copy)
    let grant = try #require(try home.grants.first)
    try handle { _, _ in
      [.decision(ConsentDecision(.revoke(grant: grant.id), by: .commandLine(user: 0)))]
    }
    try FileManager.default.removeItem(atPath: place.storePath)
    try FileManager.default.moveItem(atPath: copy, toPath: place.storePath)
    #expect(try home.grants.count == 1)
    _ = try await client.preferredCredentials()
    #expect(asked.count == 1)
  }

  @Test("What a person has refused a moment ago is refused at once")
  func denied() async throws {
    try await store(.home)
    _ = try ask([.getPreferred])
    try decide { .deny($0) }
    let refused = await failure { _ = try await client.preferredCredentials() }
    #expect(refused?.reason == .refused && refused?.answerCode == "consent_denied")
    #expect(asked.count == 0)
  }

  @Test("What waits for a person already counts towards the limit of questions")
  func questions() async throws {
    for number in 1...6 {
      try await store(Self.network(number), Data(repeating: UInt8(number), count: 8))
    }
    let ids = try (1...6).map {
      try #require(ExtendedPANID(hex: Self.network($0).extendedPANID))
    }
    #expect(try ask(ids.prefix(5).map(HomeRequest.getNetwork)).questions.count == 5)
    let refused = await failure {
      _ = try await client.credentials(
        forExtendedPANID: Data(hex: Self.network(6).extendedPANID))
    }
    #expect(refused?.reason == .busy && refused?.answerCode == "rate_limited")
    #expect(asked.count == 0)
  }

  @Test("A router's adoption and the home's alerts are left to the daemon")
  func adoption() async throws {
    try await store(.home)
    let agent = try #require(BorderAgentID(bytes: Agents.attic))
    let dataset = try SampleNetwork.guest.dataset(at: 1)
    let key = try place.withStore { keychain in
      try SealedRecords(keychain).inTransaction { try $0.hashKey() }
    }
    var message = RouterMessage(.announce, .router(agent))
    message.dataset = DatasetSummary(dataset, key: key)
    let before = try handle({ ($0.adoptTimeout, $0.alertsHold) = (300, 0) }) { _, now in
      [
        .enroll(
          EnrolledClient(line: "line", fingerprint: "key", trust: .broker, at: now, by: "test"),
          "own", by: .commandLine(user: 0)),
        .message(message, from: "own"), .tick(Link(connection: 1)),
      ]
    }
    #expect(before.routers[agent]?.adoption?.state == .asked && !before.alerts.isEmpty)
    try await store(.guest.with { $0.channel = 20 }, Agents.attic)
    let after = try home
    #expect(after.routers[agent]?.dataset?.parameters?.channelNumber == 20)
    #expect(after.routers[agent]?.adoption == before.routers[agent]?.adoption)
    #expect(after.questions == before.questions && after.alerts == before.alerts)
  }

  @Test("What may be in a record that cannot be read is damaged, and not said to be missing")
  func damage() async throws {
    try await store(.home)
    try place.withStore { keychain in
      // Before the tag, which the manifest does not see.
      try keychain.database.write { tx in
        var states: [(id: Int64, state: [UInt8])] = []
        try tx.forEach("SELECT id, state FROM records WHERE secret_version <> 0", bound: []) {
          states.append(($0.integer(0), $0.blob(1)))
          return true
        }
        for (id, state) in states {
          var altered = state
          altered[altered.count - 17] ^= 1
          try tx.execute(
            "UPDATE records SET state = ? WHERE id = ?", .blob(altered), .integer(id))
        }
      }
    }
    let dataset = try SampleNetwork.home.bytes()
    let calls: [() async throws -> Void] = [
      { _ = try await client.preferredCredentials() },
      { _ = try await client.preferredMatch(forActiveOperationalDataset: dataset) },
      { _ = try await client.credentials(forBorderAgentID: Agents.kitchen) },
      {
        _ = try await client.credentials(
          forExtendedPANID: Data(hex: SampleNetwork.home.extendedPANID))
      },
      { try await client.deleteCredentials(forBorderAgent: Agents.kitchen) },
    ]
    for call in calls {
      let error = await failure(call)
      #expect(error?.reason == .damaged && error?.code == 11)
    }
  }
}
