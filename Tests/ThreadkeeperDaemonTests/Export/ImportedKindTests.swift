// SPDX-License-Identifier: Apache-2.0

import ClientEnrolment
import ConsentLedger
import DaemonTestKit
import Foundation
import KeychainCore
import SealedEnvelope
import SodiumCrypto
import TestKit
import Testing

@testable import ThreadkeeperDaemon

@Suite("Items of an import that are left out, or refused", .timeLimit(.minutes(30)))
struct ImportedKindTests {
  private let (old, new): (MovedStore, MovedStore)

  init() throws {
    (old, new) = (try MovedStore(), try MovedStore())
  }

  @Test("What is left out refuses nothing, whatever is wrong with it")
  func leftOutGarbage() throws {
    try old.enroll("hub")
    try old.keychain.database.write { [keychain = old.keychain] tx in
      _ = try keychain.add(MovedStore.item("client-role/home", account: "hub"), in: tx)
      _ = try keychain.add(
        MovedStore.item("thread-adoption/home", account: "no agent", accessible: .always), in: tx)
    }
    let outcome = try new.take(try old.export()).outcome
    #expect(outcome.imported && outcome.added == 2 && outcome.leftOut == 2)
  }

  @Test("What only a newer program knows of the daemon's own is left out")
  func unknown() throws {
    #expect(ImportedKind(MovedStore.item("client-role/home")) == .leftBehind)
    var other = MovedStore.item("thread-preferred/home")
    #expect(ImportedKind(other) == .credential)
    other.itemClass = .key
    #expect(ImportedKind(other) == .leftBehind)
    other = MovedStore.item("client-role/home")
    other.attributes[.accessGroup] = .string("own")
    #expect(ImportedKind(other) == .other)
    other = MovedStore.item("broker.local")
    other.itemClass = .internetPassword
    #expect(ImportedKind(other) == .other)
    try old.keychain.database.write { [keychain = old.keychain] tx in
      _ = try keychain.add(MovedStore.item("client-role/home"), in: tx)
    }
    let outcome = try new.take(try old.export()).outcome
    #expect(outcome.leftOut == 1 && outcome.imported)
    #expect(try new.keychain.verify(.everything) == VerificationReport(items: 0))
  }

  private func enrolment(_ change: (inout [String: Any]) -> Void = { _ in }) throws -> [UInt8] {
    var record: [String: Any] = [
      "v": 1, "line": try Identity().keys.line, "trust": "signed", "enrolled_at": 1_800_000_000,
      "enrolled_by": "a test",
    ]
    change(&record)
    return [UInt8](try JSONSerialization.data(withJSONObject: record))
  }

  @Test("Enrolments that are none are refused")
  func enrolments() throws {
    func rejectionReason(
      _ secret: [UInt8], service: String = "client-enrolment/home", account: String = "router",
      accessible: Accessibility = .afterFirstUnlock
    ) -> String? {
      ImportedKind.rejectionReason(
        for: MovedStore.item(service, account: account, secret, accessible: accessible))
    }
    let good = try enrolment()
    #expect(rejectionReason(good) == nil)
    #expect(try rejectionReason(enrolment { $0["v"] = 2 }) == nil)
    #expect(try rejectionReason(enrolment { $0["v"] = 3 }) != nil)
    #expect(try rejectionReason(enrolment { $0["trust"] = "blind" }) != nil)
    #expect(try rejectionReason(enrolment { $0["line"] = "tk1:x:00000000" }) != nil)
    #expect(try rejectionReason(enrolment { $0["enrolled_by"] = nil }) != nil)
    #expect(rejectionReason([]) != nil && rejectionReason(Array("{}".utf8)) != nil)
    #expect(rejectionReason(good, service: "client-enrolment/") != nil)
    // A mark on the slash makes another letter of it, and no other service: it is of the home's name.
    let marked = MovedStore.item("client-enrolment/\u{301}home", good)
    #expect(ImportedKind.rejectionReason(for: marked) == nil)
    let client = EnrolledClient(imported: marked)
    #expect(client.map { Array($0.home.utf8) } == Array("\u{301}home".utf8))
    for account in ["", "a/b", "a\nb"] { #expect(rejectionReason(good, account: account) != nil) }
    #expect(rejectionReason(good, accessible: .always) != nil)
  }

  @Test("A consent that nobody could take back is refused")
  func grantIDs() throws {
    try old.grant("phone")
    let grant = try #require(try old.keychain.database.read { try old.ledger.grants($0) }.first)
    let bytes = [UInt8](try JSONEncoder().encode(grant))
    func rejectionReason(_ account: String, _ bytes: [UInt8]) -> String? {
      ImportedKind.rejectionReason(
        for: MovedStore.item("thread-consent/grant", account: account, [], generic: bytes))
    }
    let id = grant.id.description
    #expect(rejectionReason(id, bytes) == nil)
    #expect(rejectionReason("g-0000000000000000", bytes) != nil)
    let text = String(decoding: bytes, as: UTF8.self)
    for other in ["forever", "c-0000000000000000"] {
      let renamed = Array(text.replacingOccurrences(of: id, with: other).utf8)
      #expect(rejectionReason(other, renamed) != nil)
    }
  }

  @Test("Garbage is refused before anything is written")
  func nothingIsWritten() throws {
    try old.enroll("hub")
    try old.keychain.database.write { [keychain = old.keychain] tx in
      _ = try keychain.add(MovedStore.item("client-enrolment/home", account: "garbage"), in: tx)
    }
    let path = try old.export()
    do {
      _ = try new.take(path)
      Issue.record("it was imported")
    } catch let failure as CommandFailure {
      #expect(failure.status == .badInput)
      #expect(failure.message.contains("record 3 has an enrolment that cannot be read"))
    }
    #expect(try new.keychain.verify(.everything) == VerificationReport(items: 0))
  }
}
