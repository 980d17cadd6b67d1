// SPDX-License-Identifier: Apache-2.0

import ClientEnrolment
import SQLiteDatabase
import TestKit
import Testing

@testable import Bridge

@Suite("Which sealed requests have come")
struct SealedRequestLedgerTests {
  private let store: TemporaryStore
  private let now: Int64 = 1_800_000_000
  private let one = [UInt8](repeating: 1, count: 32)
  private let other = [UInt8](repeating: 2, count: 32)

  init() throws {
    store = try TemporaryStore()
    try BridgeSchema.create(in: store.keychain.database)
  }

  private struct Undone: Error {}

  /// - Parameter time: seconds from now; the envelope lives until 90 later, or until `ends`.
  private func take(
    _ identifier: String, of issuer: [UInt8]? = nil, at time: Int64 = 0, ends: Int64? = nil,
    undone: Bool = false
  ) throws -> ReplayVerdict {
    var verdict: ReplayVerdict?
    do {
      try store.keychain.database.write { tx in
        verdict = try SealedRequestLedger().take(
          .init(
            issuer: issuer ?? one, identifier: identifier, ends: now + (ends ?? time + 90)),
          now: now + time, tx)
        if undone { throw Undone() }
      }
    } catch is Undone {}
    return try #require(verdict)
  }

  private func rows() throws -> Int64? {
    try store.keychain.database.read {
      try $0.first("SELECT COUNT(*) FROM sealed_request") { $0.integer(0) }
    }
  }

  @Test("A request counts once for its signer, whatever its letters look like")
  func once() throws {
    #expect(try take("a") == .news)
    #expect(try take("a", at: 89, ends: 90) == .replayed)
    #expect(try take("a", of: other) == .news)
    #expect(try take("caf\u{E9}") == .news)
    #expect(try take("cafe\u{301}") == .news)
    #expect(try take("a\u{0}") == .news)
  }

  @Test("After a restart it has still come; after a rollback it has not")
  func transactions() throws {
    #expect(try take("a") == .news)
    #expect(try take("b", undone: true) == .news)
    try store.reopen()
    #expect(try take("a") == .replayed)
    #expect(try take("b") == .news)
  }

  @Test("Rows go when their envelopes do not open any more, and none before")
  func pruning() throws {
    for number in 0..<10 { #expect(try take("\(number)", at: Int64(number)) == .news) }
    #expect(try take("x", of: other, at: 89) == .news)
    #expect(try rows() == 11)
    #expect(try take("y", of: other, at: 90) == .news)
    #expect(try rows() == 11)
    #expect(try take("0", at: 90, ends: 90) == .forgotten)
    #expect(try take("1", at: 90, ends: 91) == .replayed)
    #expect(try take("z", of: other, at: 98) == .news)
    #expect(try rows() == 4)
  }

  @Test("A clock that is set back brings nothing back that was forgotten")
  func clockSetBack() throws {
    #expect(try take("a") == .news)
    #expect(try take("b", at: 50) == .news)
    #expect(try take("c", at: 100) == .news)
    try store.reopen()
    for time: Int64 in [0, -3_600] {
      #expect(try take("a", at: time, ends: 90) == .forgotten)
      #expect(try take("new", at: time, ends: 90) == .forgotten, "it is not known")
      #expect(try take("b", at: time, ends: 140) == .replayed)
    }
    #expect(try take("new", ends: 91) == .news, "what ends later is all remembered")
    #expect(try take("a", of: other) == .news, "of others nothing was forgotten")
  }

  @Test("A clock that was ahead leaves no mark but that of what was forgotten by it")
  func clockAhead() throws {
    #expect(try take("a") == .news)
    #expect(try take("x", of: other, at: 1 << 30) == .news)
    #expect(try take("b", at: 1) == .news)
    #expect(try take("a", at: 1, ends: 90) == .forgotten)
  }

  @Test("Beyond the bound a signer is refused, and nothing is forgotten for it")
  func bound() throws {
    try store.keychain.database.write { tx in
      for number in 0..<SealedRequestLedger.mostOfIssuer {
        let verdict = try SealedRequestLedger().take(
          .init(issuer: one, identifier: "\(number)", ends: now + 90), now: now, tx)
        #expect(verdict == .news)
      }
    }
    #expect(SealedRequestLedger.mostOfIssuer >= 1_024)
    #expect(try take("more") == .full)
    #expect(try take("more", at: 89) == .full)
    #expect(try take("0", ends: 90) == .replayed)
    #expect(try take("a", of: other) == .news)
    #expect(try take("more", at: 90) == .news)
  }
}
