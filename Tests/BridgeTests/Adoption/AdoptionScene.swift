// SPDX-License-Identifier: Apache-2.0

import Broker
import ClientEnrolment
import ConsentLedger
import Foundation
import Logging
import TestKit
import Testing
import ThreadCredentialStore
import ThreadDataset
import ThreadRequests

@testable import Bridge

/// A home with a preferred network, and a router of anna's that is on another one.
final class AdoptionScene {
  let bridge: TestBridge
  let anna: Identity
  /// What is preferred.
  let home: OperationalDataset
  /// What the router is on.
  let guest: OperationalDataset
  private var sentConsents: [String] = []
  static let router = Agent.living

  /// - Parameter isEnrolled: whether anna's keys are known.
  init(isEnrolled: Bool = true) throws {
    bridge = try TestBridge(teams: ["anna": "family", "ben": "family"]) { $0.adoptTimeout = 300 }
    anna = try Identity()
    home = try SampleNetwork.home.dataset(at: 5)
    guest = try SampleNetwork.guest.dataset(at: 1)
    try knowKeys()
    if isEnrolled { try enroll() }
    try bridge.announce(Agent.attic, .home, at: 5, user: "hub")
    try bridge.announce(Self.router, .guest, at: 1, ["name": "Living room"])
  }

  /// What a process does at its start.
  func knowKeys() throws {
    try bridge.database.write { _ = try bridge.enrolments.makeIdentity($0) }
    bridge.parts.sealer = EnrolledExchange(bridge.enrolments)
  }

  func restart() throws {
    try bridge.restart()
    try knowKeys()
  }

  func enroll(_ identity: Identity? = nil) throws {
    let client = EnrolledClient(
      home: "home", user: "anna", keys: (identity ?? anna).keys, trust: .broker, enrolledAt: 0,
      enrolledBy: "test"
    )
    try bridge.database.write { _ = try bridge.enrolments.enroll(client, $0) }
  }

  /// `clients enroll` with another key of anna's: what waited for the one before ends.
  func changeKey(_ identity: Identity? = nil) throws {
    try endConsent()
    try enroll(identity)
  }

  /// The same, by what does not end questions.
  func changeKeyUnseen() throws { try enroll(Identity()) }

  /// `clients revoke`.
  func revoke() throws {
    try bridge.database.write { _ = try bridge.enrolments.revoke("anna", in: "home", $0) }
    try endConsent()
  }

  private func endConsent() throws {
    try bridge.database.write {
      try ConsentLedger(bridge.temporary.keychain).end(
        of: .mqttUser("anna"), in: "home", by: "test", now: bridge.clock.now().milliseconds, $0)
    }
  }

  /// Until the mismatch is raised, and somebody is asked.
  func raised() throws {
    try bridge.pass(30)
    try bridge.pass(1)
  }

  var consents: ConsentDecisions {
    ConsentDecisions(bridge.runner())
  }

  func waiting() throws -> [PendingConsent] {
    try bridge.database.read {
      try ConsentLedger(bridge.temporary.keychain).pending(
        now: bridge.clock.now().milliseconds, $0)
    }
  }

  func approve(_ scope: ConsentScope = .once) throws {
    try consents.approve(
      try #require(try waiting().first).id.description, scope, by: .commandLine(user: 0))
  }

  /// Asked, approved and sent.
  func sent() throws {
    try raised()
    try approve()
    try bridge.pass(1)
  }

  var state: AdoptionState? { get throws { try bridge.router(Self.router)?.adoption } }
  var failure: AlertFacts? {
    get throws {
      guard let alert = try bridge.alert(.adoptionFailed, Self.router), alert.phase == .firing
      else {
        return nil
      }
      return alert.facts
    }
  }

  var isMismatchFiring: Bool {
    get throws { try bridge.alert(.preferredNetworkMismatch, Self.router)?.phase == .firing }
  }

  var stored: OperationalDataset? { get throws { try bridge.credential(Self.router)?.dataset } }

  var adoption: Adoption? {
    get throws {
      try bridge.database.read {
        try bridge.store.adoption(of: try agent(Self.router), in: "home", $0)
      }
    }
  }

  /// By whose word something was ever sent.
  var adoptionsSent: [String] {
    get throws {
      sentConsents += try bridge.takeEvents().filter { $0.types.contains(.datasetSent) }
        .compactMap(\.detail.consent)
      return sentConsents
    }
  }

  /// What the router finds in the messages that it was sent.
  func opened() throws -> [(body: [String: Any], publication: Publication)] {
    try bridge.delivered.map { publication in
      let payload = try #require(
        try JSONSerialization.jsonObject(with: Data(publication.payload)) as? [String: Any])
      #expect(payload["v"] as? Int == 1)
      let envelope = try JSONSerialization.data(withJSONObject: try #require(payload["sealed"]))
      let keys = try #require(bridge.enrolments.identity).keys
      let opened = try Envelope.open(
        Array(envelope), with: anna, from: [keys], topic: publication.topic,
        now: bridge.clock.now().milliseconds / 1_000)
      let body = try #require(
        try JSONSerialization.jsonObject(with: Data(opened.body)) as? [String: Any])
      return (body, publication)
    }
  }

  /// What the audit says of credentials that were given.
  func given() throws -> [String] {
    var subjects: [String] = []
    try bridge.temporary.keychain.forEachAuditRecord { record in
      subjects += record.lines.filter { $0.action == .credentialsGiven }.map(\.subject)
    }
    return subjects
  }
}

extension TestBridge {
  /// `threadkeeper preferred set`.
  func prefer(_ network: SampleNetwork) throws {
    var request = ThreadRequest(.setPreferred)
    request.dataset = try network.dataset(at: 5)
    _ = try command(request).result()
  }
}
