// SPDX-License-Identifier: Apache-2.0

import Broker
import ClientEnrolment
import KeychainCore
import SQLiteDatabase
import TestKit
import Testing

@testable import Bridge

@Suite("Sealed requests and their answers")
struct SealedExchangeTests {
  private static let now: Int64 = 1_800_000_000
  private let request = "threadkeeper/in/phone/request/preferred/get"
  private let response = "threadkeeper/out/phone/response/preferred/get"
  private let store: TemporaryStore
  private let enrolments: ClientEnrolmentStore
  private let daemonIdentity: Identity
  private let phone: Identity
  private let exchange: SealedExchange

  init() throws {
    store = try TemporaryStore()
    enrolments = ClientEnrolmentStore(store.keychain)
    daemonIdentity = try Identity()
    phone = try Identity()
    try BridgeSchema.create(in: store.keychain.database)
    exchange = SealedExchange(enrolments, identity: daemonIdentity, replays: SealedRequestLedger())
  }

  private func enroll(_ trust: EnrolledClient.Trust = .broker) throws {
    let client = EnrolledClient(
      home: "home", user: "phone", keys: phone.keys, trust: trust, enrolledAt: 0, enrolledBy: "test"
    )
    _ = try store.keychain.database.write { try enrolments.enroll(client, $0) }
  }

  private func write<R>(_ body: (WriteTransaction) throws -> R) throws -> R {
    try store.keychain.database.write(body)
  }

  private func sealed(
    _ order: Envelope.Order = .identifier("r-1"), at time: Int64 = now, topic: String? = nil
  ) throws -> [UInt8] {
    try Envelope.seal(
      Array(#"{"transaction":"r-1"}"#.utf8), to: daemonIdentity.keys, from: phone,
      at: .init(topic: topic ?? request, order: order, now: time, lifetime: 30))
  }

  private func refusal(_ envelope: [UInt8], at time: Int64 = now) throws -> String? {
    try write { tx in
      do {
        _ = try exchange.open(
          envelope, from: "phone", in: "home", topic: request, now: time, tx)
        return nil
      } catch let error as SealedExchangeError {
        return error.code
      }
    }
  }

  @Test("A request is opened once, and every refusal has its name")
  func requests() throws {
    #expect(try refusal(sealed()) == "not_enrolled")
    try enroll()
    let envelope = try sealed()
    #expect(try refusal(envelope) == nil)
    #expect(try refusal(envelope) == "replayed")
    #expect(try refusal(sealed(.identifier("r-0"), at: Self.now - 80)) == nil)
    #expect(try refusal(sealed(.identifier("r-2")), at: Self.now + 90) == "expired")
    #expect(try refusal(sealed(.identifier("r-2"), topic: "elsewhere")) == "wrong_topic")
    #expect(try refusal(sealed(.sequence(1))) == "not_an_envelope")
    #expect(try refusal(sealed(.identifier("r-2"))) == nil, "what was refused has not come")
  }

  @Test("An answer opens with the enrolled key only, on its topic")
  func answers() throws {
    let body = Array(#"{"dataset":"0e08"}"#.utf8)
    func seal(_ transaction: String? = "r-1") throws -> [UInt8] {
      try store.keychain.database.read {
        try exchange.seal(
          body, to: "phone", in: "home", .init(topic: response, transaction: transaction),
          now: Self.now, $0)
      }
    }
    #expect(throws: SealedExchangeError.notEnrolled) { try seal() }
    try enroll()
    let envelope = try seal()
    let opened = try Envelope.open(
      envelope, with: phone, from: [daemonIdentity.keys], topic: response, now: Self.now)
    #expect(opened.body == body)
    #expect(opened.expiresAt == Self.now + 30)
    #expect(opened.order == .identifier("r-1"))
    for unfit in [nil, "", String(repeating: "a", count: 129)] {
      let other = try Envelope.open(
        seal(unfit), with: phone, from: [daemonIdentity.keys], topic: response, now: Self.now)
      #expect(other.order != .identifier(unfit ?? ""))
    }
    #expect(throws: EnvelopeRefusal.unknownKeyID) {
      try Envelope.open(
        envelope, with: try Identity(), from: [daemonIdentity.keys], topic: response, now: Self.now)
    }
    #expect(try seal() != envelope)
  }

  @Test("Trust, enrolment and revocation count at once")
  func trust() throws {
    func state() throws -> [Bool] {
      try write {
        [
          exchange.fingerprint(of: "phone", in: "home", $0) == phone.keys.fingerprint,
          exchange.requiresSeal(of: "phone", in: "home", $0),
        ]
      }
    }
    #expect(try state() == [false, false])
    try enroll()
    #expect(try state() == [true, false])
    try enroll(.signed)
    #expect(try state() == [true, true])
    _ = try write { try enrolments.revoke("phone", in: "home", $0) }
    #expect(try state() == [false, true], "its login in plaintext is not what was enrolled")
    #expect(try !write { try enrolments.revoke("phone", in: "home", $0) })
    #expect(try write { try enrolments.revoke("phone", in: "home", forgets: true, $0) })
    #expect(try state() == [false, false])
    try enroll(.broker)
    _ = try write { try enrolments.revoke("phone", in: "home", $0) }
    #expect(try state() == [false, false])
  }
}
