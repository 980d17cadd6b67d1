// SPDX-License-Identifier: Apache-2.0

import Broker
import ClientEnrolment
import Foundation
import Logging
import TestKit
import Testing

@testable import Bridge

@Suite("Events in envelopes")
struct SealedEventTests {
  private let bridge: TestBridge
  private let anna: Identity

  init() throws {
    bridge = try TestBridge(teams: ["anna": "family", "ben": "family"])
    anna = try Identity()
  }

  private func enroll(
    _ user: String = "anna", _ identity: Identity? = nil,
    trust: EnrolledClient.Trust = .signed
  ) throws {
    let client = EnrolledClient(
      home: "home", user: user, keys: (identity ?? anna).keys, trust: trust, enrolledAt: 0,
      enrolledBy: "test")
    try bridge.database.write { _ = try bridge.enrolments.enroll(client, $0) }
  }

  private var now: Int64 { bridge.clock.now().milliseconds / 1000 }

  /// An event of this kind, sealed by the user itself unless a test says otherwise.
  private func sealed(
    _ kind: InboundEventKind, _ agent: String = Agent.living, seq: UInt64?, user: String = "anna",
    by signer: Identity? = nil, to recipient: PublicIdentity? = nil, signedTopic: String? = nil,
    outside: [String: Any] = [:], _ fields: [String: Any] = [:]
  ) throws -> IncomingMessage {
    var fields = fields
    if kind != .ssid || fields["access_point"] == nil { fields["border_agent_id"] = agent }
    let topic = "threadkeeper/in/\(user)/\(kind.rawValue)"
    let envelope = try Envelope.seal(
      Array(JSONSerialization.data(withJSONObject: fields)),
      to: recipient ?? bridge.identity.keys, from: signer ?? anna,
      at: .init(
        topic: signedTopic ?? topic, order: seq.map { .sequence($0) } ?? .identifier("x"), now: now,
        lifetime: seq == nil ? 30 : nil))
    var payload = outside
    payload["sealed"] = try JSONSerialization.jsonObject(with: Data(envelope))
    return IncomingMessage(
      topic: topic, payload: Array(try JSONSerialization.data(withJSONObject: payload)))
  }

  private func announcement(
    _ network: SampleNetwork = .home, at seconds: UInt64 = 1, seq: UInt64?, user: String = "anna",
    by signer: Identity? = nil, outside: [String: Any] = [:]
  ) throws -> IncomingMessage {
    try sealed(
      .announce, seq: seq, user: user, by: signer, outside: outside,
      ["dataset": network.dataset(at: seconds).hex, "name": "Living room"])
  }

  private func code(_ message: IncomingMessage) throws -> String? {
    _ = try bridge.takeEvents()
    try bridge.receive([message])
    return try bridge.takeEvents().first { $0.types.contains(.messageRejected) }?.detail.code
  }

  @Test("A sealed announcement does what a plain one does, and no key came in plaintext")
  func announce() throws {
    try enroll()
    try bridge.receive([announcement(seq: 1, outside: ["border_agent_id": Agent.living])])
    #expect(
      try bridge.takeNames() == ["router_announced", "dataset_stored", "preferred_changed"])
    #expect(try bridge.credential(Agent.living)?.team == "family")
    #expect(try bridge.router(Agent.living)?.name == "Living room")
    try bridge.pass(60)
    #expect(try bridge.firing() == [])
  }

  @Test("A user of whom only signed events count is refused in plaintext; another is not")
  func trust() throws {
    try enroll(trust: .broker)
    #expect(try code(try bridge.message(.announce, Agent.living)) == nil)
    try enroll()
    #expect(try code(try bridge.message(.heartbeat, Agent.living)) == "not_sealed")
    #expect(try code(try bridge.message(.heartbeat, Agent.living, user: "ben")) == nil)
    #expect(try code(try sealed(.heartbeat, seq: 1)) == nil)
  }

  @Test("A revocation counts at once, and so does an enrolment")
  func revoke() throws {
    #expect(try code(try announcement(seq: 1)) == "not_enrolled")
    try enroll()
    #expect(try code(try announcement(seq: 2)) == nil)
    try bridge.database.write { _ = try bridge.enrolments.revoke("anna", in: "home", $0) }
    #expect(try code(try announcement(seq: 3)) == "not_enrolled")
    #expect(try code(try bridge.message(.heartbeat, Agent.living, user: "anna")) == "not_sealed")
    // Whoever was enrolled before does not come back with what it said then.
    try enroll()
    #expect(try code(try announcement(seq: 1)) == "out_of_order")
  }

  @Test("Every refusal has its name, and a batch continues after it")
  func refusals() throws {
    try enroll()
    let unenrolled = try Identity()
    #expect(try code(try announcement(seq: 1, by: unenrolled)) == "unknown_issuer")
    #expect(
      try code(try sealed(.leave, seq: 1, to: unenrolled.keys)) == "unknown_kid")
    #expect(
      try code(try sealed(.leave, seq: 1, signedTopic: "threadkeeper/in/anna/heartbeat"))
        == "wrong_topic")
    #expect(
      try code(try sealed(.leave, seq: 1, signedTopic: "threadkeeper/in/ben/leave"))
        == "wrong_topic")
    #expect(try code(try sealed(.leave, seq: nil)) == "missing_field")
    #expect(
      try code(try bridge.message(.announce, Agent.living, ["sealed": "text"])) == "not_an_envelope"
    )
    #expect(
      try code(
        try bridge.message(
          .announce, Agent.living, ["sealed": ["v": 2, "typ": "sealed", "ct": "AAAA"]]))
        == "unsupported_version")
    let early = try announcement(seq: 1)
    bridge.clock.jump(seconds: -3_600)
    #expect(try code(early) == "not_yet_valid")
    bridge.clock.advance(seconds: 3_600)
    // What an envelope holds is judged like any other event.
    #expect(
      try code(try sealed(.announce, seq: 1, ["dataset": "0e08"])) == "truncated")
    #expect(try code(try sealed(.announce, seq: 2, ["sealed": ["v": 1]])) == "unsupported")

    let bad = try announcement(seq: 3, by: unenrolled)
    let counts = try bridge.receive([bad, try announcement(seq: 3), bad])
    #expect(counts.rejected == ["unknown_issuer": 2])
    #expect(try bridge.credential(Agent.living) != nil)
  }

  @Test("What lies beside the envelope says the same, and holds no dataset")
  func outside() throws {
    try enroll()
    for (outside, expected) in [
      (["border_agent_id": Agent.attic], "outside_differs"), (["vendor": "x"], "outside_differs"),
      (["name": "Cellar"], "outside_differs"), (["seq": 2], "outside_differs"),
      (["id": "x"], "outside_differs"),
      (["dataset": try SampleNetwork.home.dataset(at: 1).hex], "not_sealed"),
    ] as [([String: Any], String)] {
      #expect(try code(try announcement(seq: 1, outside: outside)) == expected, "\(outside)")
    }
    let same: [String: Any] = [
      "border_agent_id": Agent.living.uppercased(), "name": "Living room", "seq": 1, "more": [1],
    ]
    #expect(try code(try announcement(seq: 1, outside: same)) == nil)
    #expect(try code(try sealed(.heartbeat, seq: 2, ["seq": 1])) == "outside_differs")
  }

  @Test("A repetition is ignored, and a late one refused, also when another user spoke meanwhile")
  func replay() throws {
    try enroll()
    let first = try announcement(seq: 1)
    let leave = try sealed(.leave, seq: 3)
    try bridge.receive([first, announcement(.home, at: 2, seq: 2), leave])
    #expect(try bridge.receive([leave, first]).duplicates == 2)
    #expect(try bridge.credential(Agent.living) == nil)
    // The window of the router restarts with another user of the team; that of the signer does not.
    try bridge.announce(Agent.living, .home, at: 3, user: "ben")
    #expect(try bridge.receive([leave, first]).duplicates == 2)
    #expect(try bridge.credential(Agent.living) != nil)
    try bridge.restart()
    #expect(try bridge.receive([leave]).duplicates == 1)
    try bridge.receive([try sealed(.heartbeat, seq: 500)])
    #expect(try code(leave) == "out_of_order")
  }

  @Test("A sealed SSID cannot be sent again either")
  func ssid() throws {
    try enroll()
    try bridge.receive([try announcement(seq: 1)])
    let old = try sealed(.ssid, seq: 2, ["ssid": "old"])
    let message = try sealed(.ssid, seq: 3, ["ssid": "new"])
    try bridge.receive([old, message])
    #expect(try bridge.receive([old]).duplicates == 1)
    #expect(try bridge.router(Agent.living)?.ssid == "new")
  }

  @Test("Any byte of a sealed event can be altered without anything but a rejection")
  func altered() throws {
    try enroll()
    let message = try sealed(.leave, seq: 2)
    try bridge.receive([try announcement(seq: 1)])
    for position in stride(from: 0, to: message.payload.count, by: 3) {
      var payload = message.payload
      payload[position] ^= 0x02
      try bridge.receive([IncomingMessage(topic: message.topic, payload: payload)])
      #expect(try bridge.credential(Agent.living) != nil, "byte \(position)")
    }
    try bridge.receive([message])
    #expect(try bridge.credential(Agent.living) == nil)
  }

  @Test("Once only signed events count, the alert about keys in plaintext ends")
  func plaintextEnds() throws {
    try bridge.announce(Agent.living, .home, at: 1)
    try bridge.pass(60)
    #expect(try bridge.firing() == ["PlaintextCredentials anna"])
    try enroll(trust: .broker)
    try bridge.receive([try announcement(at: 2, seq: 1)])
    #expect(try bridge.firing() == ["PlaintextCredentials anna"])
    try enroll()
    try bridge.receive([try announcement(at: 3, seq: 2)])
    #expect(try bridge.firing() == [])
  }

  private func damageItems() throws {
    _ = try bridge.database.write {
      try $0.execute("UPDATE items SET secret = zeroblob(length(secret))")
    }
  }

  @Test("Of a user whose enrolment is damaged nothing counts, until it is enrolled again")
  func damaged() throws {
    try enroll(trust: .broker)
    try damageItems()
    #expect(try code(try bridge.message(.announce, Agent.living)) == "damaged_enrolment")
    #expect(try code(try announcement(seq: 1)) == "damaged_enrolment")
    #expect(try code(try bridge.message(.announce, Agent.attic, user: "ben")) == nil)
    try enroll()
    #expect(try code(try announcement(seq: 1)) == nil)
  }

  @Test("The daemon's keys are made when they are needed, and damaged ones stop nothing else")
  func keys() throws {
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    let enrolments = ClientEnrolmentStore(bridge.temporary.keychain)
    try DaemonIdentity.load(enrolments, logger: logger)
    #expect(enrolments.identity == nil)
    let made = try bridge.database.write { try enrolments.makeIdentity($0) }
    let others = ClientEnrolmentStore(bridge.temporary.keychain)
    try DaemonIdentity.load(others, logger: logger)
    #expect(others.identity?.keys == made.keys)
    try damageItems()
    let damaged = ClientEnrolmentStore(bridge.temporary.keychain)
    try DaemonIdentity.load(damaged, logger: logger)
    #expect(damaged.identity == nil)
  }

  @Test("Without keys of its own the daemon refuses what is sealed, and takes the rest")
  func noKeys() throws {
    try enroll(trust: .broker)
    let message = try announcement(seq: 1)
    var reader = MessageReader(topics: bridge.configuration.topics)
    let counts = try bridge.transaction { transaction in
      for message in [message, try bridge.message(.announce, Agent.attic)] {
        try transaction.messages.apply(
          reader.read(message), SealedIntake(enrolments: bridge.enrolments, identity: nil))
      }
    }.outcome.counts
    #expect(counts.rejected == ["unsupported": 1])
    #expect(try bridge.router(Agent.attic)?.isPresent == true)
  }
}
