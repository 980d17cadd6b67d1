// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import CredentialService
import Foundation
import MosquittoClient
import TestKit
import Testing
import ThreadCredentialStore
import ThreadDataset
import ThreadRequests

@testable import Bridge

/// Requests from the broker, among events, on a real store.
@Suite("Requests")
struct RequestTests {
  let keeper: Keeper

  init() throws { keeper = try Keeper() }

  private func store(
    _ agent: String, _ network: SampleNetwork, at seconds: UInt64, user: String = "anna",
    _ fields: [String: Any] = [:]
  ) throws -> Answered {
    try keeper.ask(
      .storeCredentials, user: user,
      fields.merging([
        "border_agent_id": agent, "dataset": try network.dataset(at: seconds).hex,
      ]) { $1 })
  }

  // MARK: Answers

  @Test("A request is answered on the user's own topic, not retained, for thirty seconds")
  func answer() throws {
    let answered = try keeper.ask(.ping, ["transaction": "r-17"])
    #expect(answered.publication.topic == "threadkeeper/out/anna/response/ping")
    #expect(!answered.publication.retain)
    #expect(answered.publication.qos == 1)
    #expect(answered.answer.transaction == "r-17")
    #expect(answered.data?.version == "test")
    #expect(answered.data?.time == keeper.clock.now().description)
    #expect(keeper.counts.requestsAnswered == 1)
    #expect(try keeper.takeEvents().isEmpty)
  }

  @Test(
    "Every command has an answer",
    arguments: RequestCommand.allCases)
  func everyCommand(_ command: RequestCommand) throws {
    try keeper.announce(Agent.living, .home, at: 1)
    let answered = try keeper.ask(
      command,
      [
        "border_agent_id": Agent.living, "dataset": try SampleNetwork.home.dataset(at: 1).hex,
        "id": "c-1", "transaction": "t",
      ].merging(command == .setPreferred ? [:] : ["ext_pan_id": "1111111122222222"]) { $1 })
    #expect(
      answered.publication.topic == "threadkeeper/out/anna/response/\(command.rawValue)")
    #expect(answered.answer.transaction == "t")
    let expected: String? =
      switch command {
      case .getCredentials, .getNetwork, .nearbyNetworks, .getPreferred: "not_enrolled"
      case .shareCredentials: "unsupported"
      case .approveConsent, .denyConsent: "not_authorized"
      default: nil
      }
    #expect(answered.code == expected)
  }

  @Test("Correlation Data is echoed octet by octet, with and without an error")
  func correlation() throws {
    for command in ["ping", "credentials/get", "party"] {
      var message = try keeper.request(command)
      message.correlationData = [0, 0xFF, 7]
      try keeper.receive([message])
      #expect(keeper.published.first?.publication.correlationData == [0, 0xFF, 7])
    }
  }

  @Test("A Response Topic of the user's own is honoured")
  func responseTopic() throws {
    var message = try keeper.request("ping")
    message.responseTopic = "threadkeeper/out/anna/session 7/a"
    try keeper.receive([message])
    #expect(keeper.published.first?.publication.topic == "threadkeeper/out/anna/session 7/a")
  }

  @Test(
    "Any other Response Topic is not: the answer goes where only the user can read it",
    arguments: [
      "threadkeeper/out/bob/response/ping", "threadkeeper/bridge/event", "elsewhere",
      "threadkeeper/out/anna", "threadkeeper/out/anna/", "threadkeeper/out/anna/#",
      "threadkeeper/out/anna/a/+/b", "threadkeeper/out/anna//b", "threadkeeper/out/anna/b/",
      "threadkeeper/out/anna/../bob/x", "threadkeeper/out/annabel/x", "threadkeeper/out/anna/\u{1}",
      "other/out/anna/x", "THREADKEEPER/out/anna/x", "threadkeeper/out/anna/./x", "",
      "threadkeeper/in/anna/announce",
    ])
  func foreignTopic(_ topic: String) throws {
    var message = try keeper.request("ping")
    message.responseTopic = topic
    try keeper.receive([message])
    #expect(keeper.published.first?.publication.topic == "threadkeeper/out/anna/response/ping")
  }

  @Test("Names that only look the same are not the same user's")
  func lookalike() throws {
    var message = try keeper.request("ping", user: "caf\u{E9}")
    message.responseTopic = "threadkeeper/out/cafe\u{301}/x"
    try keeper.receive([message])
    let topic = try #require(keeper.published.first).publication.topic
    #expect(topic.hasOctets(of: "threadkeeper/out/caf\u{E9}/response/ping"))
  }

  @Test("A command that is none is unsupported, and its name is in no topic if it is odd")
  func unknownCommand() throws {
    for (name, topic) in [
      ("party", "party"), ("preferred/getx", "preferred/getx"), ("Ping", "unknown"),
      ("a//b", "unknown"), ("../x", "unknown"), (String(repeating: "x", count: 999), "unknown"),
      ("é", "unknown"), ("$SYS", "unknown"),
    ] {
      try keeper.receive([try keeper.request(name)])
      let answered = try #require(keeper.published.first)
      #expect(answered.code == "unsupported")
      #expect(answered.publication.topic == "threadkeeper/out/anna/response/\(topic)")
    }
  }

  @Test("A request that has expired is not acted upon; an answer lives no longer than its request")
  func expiry() throws {
    var message = try keeper.request(
      "credentials/store",
      ["border_agent_id": Agent.living, "dataset": try SampleNetwork.home.dataset(at: 1).hex])
    message.messageExpiry = 0
    try keeper.receive([message])
    #expect(keeper.published.first?.code == "expired")
    #expect(try keeper.credential(Agent.living) == nil)
    for (expiry, left) in [(UInt32(5), UInt32(5)), (600, 30)] {
      message.messageExpiry = expiry
      try keeper.receive([message])
      let queue = AnswerQueue()
      queue.add(keeper.answers, now: keeper.clock.now())
      #expect(queue.next(9, now: keeper.clock.now()).first?.messageExpiry == left)
    }
    #expect(try keeper.credential(Agent.living) != nil)
  }

  @Test("A retained request is rejected as every retained message is")
  func retained() throws {
    var message = try keeper.request("ping")
    message.isRetained = true
    try keeper.receive([message])
    #expect(keeper.answers.isEmpty)
    #expect(keeper.counts.retained == 1)
  }

  @Test("What cannot be read is answered with a code, and the transaction where it can be found")
  func unreadable() throws {
    let dataset = try SampleNetwork.home.dataset(at: 1).hex
    let cases: [(String, [UInt8], String, String?)] = [
      ("ping", [], "invalid_payload", nil), ("ping", Array("[]".utf8), "invalid_payload", nil),
      ("ping", [0xFF], "invalid_payload", nil),
      ("ping", Array(repeating: 0x5B, count: 999), "invalid_payload", nil),
      ("ping", Array(repeating: 0x20, count: 20_000), "invalid_payload", nil),
      ("credentials/get", Array(#"{"transaction":"t"}"#.utf8), "invalid_payload", "t"),
      (
        "credentials/get", Array(#"{"transaction":"t","border_agent_id":1}"#.utf8),
        "invalid_payload", "t"
      ),
      (
        "credentials/store",
        Array(
          #"{"transaction":"t","border_agent_id":"\#(Agent.living)","dataset":"\#(dataset)00"}"#
            .utf8), "truncated", "t"
      ),
    ]
    for (command, payload, code, transaction) in cases {
      try keeper.receive([
        IncomingMessage(topic: "threadkeeper/in/anna/request/\(command)", payload: payload)
      ])
      #expect(keeper.published.first?.code == code)
      #expect(keeper.published.first?.answer.transaction == transaction)
      #expect(keeper.counts.requestsRefused == 1)
      #expect(keeper.counts.rejected.isEmpty)
    }
  }

  @Test("Every dataset that is not sound has its code, its TLV and its place")
  func vectors() throws {
    for vector in try DatasetVectors.all() where vector.expect != "complete" {
      let answered = try keeper.ask(.checkPreferred, ["dataset": vector.hex])
      #expect(
        answered.code == (vector.expect == "pending" ? "incomplete_dataset" : vector.expect))
      #expect(answered.answer.error?.field == "dataset")
    }
  }

  // MARK: What they do

  @Test("Requests and events of one batch are acted upon in their order")
  func order() throws {
    let hex = try SampleNetwork.home.dataset(at: 1).hex
    try keeper.receive([
      try keeper.request("credentials/list"),
      try keeper.message(.announce, Agent.living, ["dataset": hex]),
      try keeper.request("credentials/list"),
      try keeper.message(.leave, Agent.living),
      try keeper.request("credentials/list"),
    ])
    #expect(keeper.published.map { $0.data?.credentials?.count } == [0, 1, 0])
  }

  @Test("Stored for a router that is listed: registry, network, events and alerts as with an event")
  func storeListed() throws {
    try keeper.announce(Agent.attic, .home, at: 1)
    try keeper.announce(Agent.living, .home, at: 1)
    _ = try keeper.takeEvents()
    let answered = try store(Agent.living, .guest, at: 1)
    #expect(answered.data?.change == .updated)
    // A member's change moves the preferred network, so it is the other router that is wrong now.
    #expect(answered.data?.preferred == .match)
    #expect(try keeper.takeNames() == ["dataset_updated", "preferred_changed"])
    let router = try #require(try keeper.router(Agent.living))
    #expect(router.networkName == "guest-thread")
    #expect(router.preferred == "match")
    #expect(try keeper.network(.guest)?.routers == 1)
    #expect(try keeper.network(.home)?.routers == 1)
    try keeper.pass(1)
    try keeper.pass(40)
    #expect(
      try keeper.firing().filter { $0.hasPrefix("Preferred") }
        == ["PreferredNetworkMismatch \(Agent.attic)"])
  }

  @Test("An older dataset by hand replaces the newer, and the router is what it says it is")
  func storeOlder() throws {
    try keeper.announce(Agent.living, .home, at: 10)
    try keeper.announce(Agent.living, .home, at: 5)
    #expect(try keeper.router(Agent.living)?.credential == .stale)
    #expect(try store(Agent.living, .home, at: 5).data?.change == .updated)
    let router = try #require(try keeper.router(Agent.living))
    #expect(router.credential == .stored)
    #expect(router.activeSeconds == 5)
  }

  @Test("Stored for a router that has not announced itself: credentials and an event, no router")
  func storeUnlisted() throws {
    try keeper.announce(Agent.attic, .home, at: 1)
    _ = try keeper.takeEvents()
    #expect(try store(Agent.living, .guest, at: 1).data?.change == .stored)
    #expect(try keeper.router(Agent.living) == nil)
    #expect(try keeper.home().routers == 1)
    let event = try #require(try keeper.takeEvents().first { $0.types == .datasetStored })
    #expect(event.user == "anna")
    #expect(event.router?.description == Agent.living)
    #expect(event.detail.networkName == "guest-thread")
    // When it comes, it has its credentials already.
    try keeper.say(.announce, Agent.living)
    #expect(try keeper.router(Agent.living)?.credential == .stored)
  }

  @Test("A router that comes with another dataset than was stored for it shows the stored one")
  func storeThenAnnounce() throws {
    try keeper.announce(Agent.attic, .home, at: 1)
    let conflicting = SampleNetwork.home.with { $0.channel = 20 }
    for (agent, network, seconds, state) in [
      (Agent.living, SampleNetwork.home, UInt64(2), CredentialState.stale),
      (Agent.garage, conflicting, 5, .conflict),
    ] {
      _ = try store(agent, .home, at: 5)
      try keeper.announce(agent, network, at: seconds)
      let router = try #require(try keeper.router(agent))
      #expect(router.credential == state)
      #expect(router.activeSeconds == 5)
      #expect(router.channel == 15)
    }
    #expect(try keeper.network(.home)?.routers == 3)
  }

  @Test("The first network that is stored by request is preferred, and its topic says so")
  func establish() throws {
    #expect(try store(Agent.living, .home, at: 1).data?.preferred == .match)
    #expect(try keeper.preferred()?.networkName == "home")
    #expect(try keeper.home().preferredName == "home")
    #expect(try keeper.network(.home)?.routers == 0)
  }

  @Test("Deleted: the router stays, its credentials are missing, the preferred network stays")
  func delete() throws {
    try keeper.announce(Agent.living, .home, at: 1)
    #expect(try keeper.ask(.deleteCredentials, ["border_agent_id": Agent.living]).code == nil)
    #expect(try keeper.router(Agent.living)?.credential == .missing)
    #expect(try keeper.preferred()?.networkName == "home")
    #expect(
      try keeper.ask(.deleteCredentials, ["border_agent_id": Agent.living]).code == "not_found")
  }

  @Test("The preferred network is set, said, and every router is checked against it")
  func setPreferred() throws {
    try keeper.announce(Agent.living, .home, at: 1)
    try keeper.announce(Agent.attic, .guest, at: 1)
    _ = try keeper.takeEvents()
    let network = ["ext_pan_id": SampleNetwork.guest.extendedPANID]
    #expect(try keeper.ask(.setPreferred, network).data?.changed == true)
    let event = try #require(try keeper.takeEvents().first { $0.types == .preferredChanged })
    #expect(event.user == "anna")
    #expect(event.detail.networkName == "guest-thread")
    try keeper.pass(1)
    #expect(try keeper.router(Agent.attic)?.preferred == "match")
    #expect(try keeper.router(Agent.living)?.preferred == "mismatch")
    #expect(try keeper.home().preferredName == "guest-thread")
    #expect(try keeper.ask(.setPreferred, network).data?.changed == false)
    // The router that runs on it is a member now: it takes the preferred network along.
    try keeper.announce(Agent.attic, .guest, at: 2)
    #expect(try keeper.preferred()?.activeTimestamp?.seconds == 2)
  }

  @Test("Active are the routers that are listed and online")
  func active() throws {
    try keeper.announce(Agent.living, .home, at: 1)
    try keeper.announce(Agent.attic, .home, at: 1)
    try keeper.say(.offline, Agent.attic)
    _ = try store(Agent.garage, .home, at: 1)
    #expect(
      try keeper.ask(.listActiveCredentials).data?.credentials?.compactMap(\.agent?.description)
        == [Agent.living])
    #expect(try keeper.ask(.listCredentials).data?.credentials?.count == 3)
  }

  @Test("Two teams cannot touch each other's credentials")
  func teams() throws {
    try keeper.announce(Agent.living, .home, at: 1)
    #expect(try store(Agent.living, .guest, at: 9, user: "bob").code == "not_authorized")
    let agent = ["border_agent_id": Agent.living]
    #expect(try keeper.ask(.deleteCredentials, user: "bob", agent).code == "not_authorized")
    #expect(try keeper.ask(.listCredentials, user: "bob").data?.credentials == [])
    #expect(
      try keeper.ask(.setPreferred, user: "bob", ["ext_pan_id": "1111111122222222"]).code
        == "not_authorized")
    #expect(try keeper.credential(Agent.living)?.dataset == SampleNetwork.home.dataset(at: 1))
    #expect(try store(Agent.attic, .guest, at: 1, user: "bob").code == nil)
    #expect(try keeper.ask(.deleteCredentials, ["border_agent_id": Agent.attic]).code != nil)
  }

  @Test("Users of one team share what they store")
  func sharedTeam() throws {
    let keeper = try Keeper(teams: ["anna": "family", "anton": "family"])
    try keeper.announce(Agent.living, .home, at: 1, user: "anna")
    #expect(
      try keeper.ask(.listCredentials, user: "anton").data?.credentials?.count == 1)
    #expect(
      try keeper.ask(.deleteCredentials, user: "anton", ["border_agent_id": Agent.living]).code
        == nil)
  }

  @Test("A request is about the home of its topic")
  func homes() throws {
    let keeper = try Keeper(homes: [
      .init(name: "home", base: "threadkeeper"), .init(name: "cabin", base: "cabin"),
    ])
    try keeper.announce(Agent.living, .home, at: 1)
    #expect(try keeper.ask(.listCredentials).data?.credentials?.count == 1)
    let cabin = try keeper.ask(.listCredentials, base: "cabin")
    #expect(cabin.data?.credentials == [])
    #expect(cabin.publication.topic == "cabin/out/anna/response/credentials/list")
  }

  @Test("The lists are what is published, and hold no secret")
  func lists() throws {
    try keeper.announce(Agent.living, .home, at: 1, ["name": "Living room"])
    try keeper.say(.offline, Agent.living)
    try keeper.pass(40)
    let routers = try #require(try keeper.ask(.listRouters).data?.routers)
    #expect(routers.first?["name"]?.text == "Living room")
    #expect(routers.first?["availability"]?.text == "offline")
    let networks = try #require(try keeper.ask(.listNetworks).data?.networks)
    #expect(networks.first?["preferred"]?.bool == true)
    let alerts = try #require(try keeper.ask(.listAlerts).data?.alerts)
    #expect(alerts.contains { $0["alertname"]?.text == "BorderRouterOffline" })
  }

  @Test("A dataset in clear is noted as one of an event is")
  func plaintext() throws {
    _ = try store(Agent.living, .home, at: 1)
    try keeper.pass(40)
    #expect(try keeper.firing().contains("PlaintextCredentials anna"))
  }

  @Test("Damaged credentials are an answer, and the batch goes on")
  func damaged() throws {
    try keeper.announce(Agent.living, .home, at: 1)
    try keeper.announce(Agent.attic, .home, at: 1)
    try keeper.damageCredential(of: Agent.attic)
    try keeper.receive([
      try keeper.request(
        "credentials/store",
        ["border_agent_id": Agent.attic, "dataset": try SampleNetwork.home.dataset(at: 2).hex]),
      try keeper.request("credentials/list"),
      try keeper.request("credentials/delete", ["border_agent_id": Agent.attic]),
      try keeper.request("credentials/list"),
    ])
    #expect(keeper.published.map(\.code) == ["damaged_credentials", nil, nil, nil])
    #expect(keeper.published[1].data?.damaged == [Agent.attic])
    #expect(keeper.published[3].data?.damaged == nil)
  }

  @Test("No answer holds a secret in clear, whatever is asked")
  func secrecy() throws {
    try keeper.announce(Agent.living, .home, at: 1)
    for command in RequestCommand.allCases where command != .deleteCredentials {
      let answered = try keeper.ask(
        command,
        [
          "border_agent_id": Agent.living, "ext_pan_id": "1111111122222222", "id": "c-1",
          "dataset": try SampleNetwork.home.dataset(at: 1).hex,
        ])
      let text = String(decoding: answered.publication.payload, as: UTF8.self).lowercased()
      #expect(!text.contains(SampleNetwork.home.networkKey))
      #expect(!text.contains(SampleNetwork.home.pskc))
      #expect(answered.data?.isSecret != true)
    }
  }

  @Test("Garbage on request topics: an answer or a rejection for each, and nothing is changed")
  func garbage() throws {
    try keeper.announce(Agent.living, .home, at: 1)
    var generator = RepeatableGenerator(seed: 4)
    let fields = [
      "transaction", "border_agent_id", "dataset", "ext_pan_id", "id", "scope", "home", "sealed",
    ]
    let values: [String] = [
      "null", "1", "-1e999", "\"\"", "[]", "{}", "true", "\"a1b2c3d4e5f60718\"", "\"\\ud800\"",
      "\"once\"", "\"\(String(repeating: "0", count: 508))\"", "[[[[[[[[[]]]]]]]]]",
    ]
    let names = RequestCommand.allCases.map(\.rawValue) + ["party", "a/b/c", "é"]
    for round in 0..<400 {
      var payload: [UInt8]
      if round.isMultiple(of: 4) {
        payload = (0..<Int.random(in: 0...200, using: &generator)).map { _ in
          UInt8.random(in: 0...255, using: &generator)
        }
      } else {
        let members = (0..<Int.random(in: 0...4, using: &generator)).map { _ in
          "\"\(fields.randomElement(using: &generator) ?? "")\":"
            + (values.randomElement(using: &generator) ?? "")
        }
        payload = Array("{\(members.joined(separator: ","))}".utf8)
        if round.isMultiple(of: 3), !payload.isEmpty {
          payload[Int.random(in: 0..<payload.count, using: &generator)] ^= 0x21
        }
      }
      var message = IncomingMessage(
        topic: "threadkeeper/in/bob/request/\(names.randomElement(using: &generator) ?? "")",
        payload: payload)
      message.correlationData = (0..<9).map { _ in UInt8.random(in: 0...255, using: &generator) }
      try keeper.receive([message])
      #expect(keeper.published.count == 1)
      #expect(keeper.published.first?.publication.topic.hasPrefix("threadkeeper/out/bob/") == true)
    }
    #expect(try keeper.credential(Agent.living)?.dataset == SampleNetwork.home.dataset(at: 1))
    #expect(try keeper.preferred() == SampleNetwork.home.dataset(at: 1))
  }
}
