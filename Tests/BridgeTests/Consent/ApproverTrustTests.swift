// SPDX-License-Identifier: Apache-2.0

import Broker
import ClientEnrolment
import ConsentLedger
import TestKit
import Testing

@testable import Bridge

@Suite("Whose word about consent counts over MQTT")
struct ApproverTrustTests {
  private let bridge: TestBridge
  private let anna: Identity

  init() throws {
    bridge = try TestBridge { $0.approvers = ["anna"] }
    anna = try Identity()
    try bridge.useEnrolments()
    try bridge.announce(Agent.living, .home, at: 1, user: "hub")
    try bridge.enroll("phone", Identity().keys)
    try bridge.receive([bridge.request("preferred/get", user: "phone")])
  }

  private func fields() throws -> [String: String] {
    let waiting = try bridge.database.read {
      try ConsentLedger(bridge.temporary.keychain).pending(
        now: bridge.clock.now().milliseconds, $0)
    }
    return ["id": try #require(waiting.first).id.description]
  }

  /// What the one who decides is answered.
  private func plain(_ verb: String, user: String = "anna") throws -> Answered? {
    try bridge.receive([bridge.request("consent/\(verb)", user: user, fields())])
    return bridge.published.last
  }

  private func sealed(
    _ verb: String, user: String = "anna", by signer: Identity? = nil, id: String
  ) throws -> Answered? {
    try bridge.receive([
      bridge.sealedRequest(
        "consent/\(verb)", user: user, by: signer ?? anna, id: id, fields())
    ])
    return bridge.published.last
  }

  @Test("In clear nothing counts, whether the approver is enrolled or not")
  func inClear() throws {
    for verb in ["approve", "deny"] {
      let refused = try plain(verb)?.answer.error
      #expect(refused?.code == "not_authorized" && refused?.field == "sealed")
    }
    for trust in EnrolledClient.Trust.allCases {
      try bridge.enroll("anna", anna.keys, trust)
      #expect(try plain("approve")?.code == "not_authorized")
    }
    #expect(try bridge.takeNames().contains("consent_approved") == false)
  }

  @Test("Signed with the enrolled key it counts, and with no other one")
  func signed() throws {
    #expect(try sealed("approve", id: "1")?.code == "not_enrolled")
    try bridge.enroll("anna", anna.keys)
    let other = try Identity()
    #expect(try sealed("approve", by: other, id: "2")?.code == "unknown_issuer")
    try bridge.enroll("bob", other.keys)
    #expect(try sealed("approve", user: "bob", by: other, id: "3")?.code == "not_authorized")
    let agreed = try sealed("approve", id: "4")
    #expect(agreed?.code == nil && agreed?.publication.topic.contains("/out/anna/") == true)
    #expect(bridge.published.count == 2, "and the phone has its answer")
  }

  @Test("Whose key was revoked decides no more")
  func revoked() throws {
    try bridge.enroll("anna", anna.keys)
    _ = try bridge.database.write { try bridge.enrolments.revoke("anna", in: "home", $0) }
    #expect(try sealed("approve", id: "1")?.code == "not_enrolled")
    #expect(try plain("approve")?.code == "not_authorized")
  }

  @Test("Where the settings say so, the broker's login is enough")
  func byTheBroker() throws {
    bridge.configuration.approversMustSign = false
    #expect(try plain("approve", user: "bob")?.code == "not_authorized")
    try bridge.enroll("anna", anna.keys, .signed)
    #expect(try plain("approve")?.code == "not_authorized", "but not of who always signs")
    try bridge.enroll("anna", anna.keys)
    #expect(try plain("approve")?.code == nil)
    #expect(bridge.published.count == 2)
  }
}
