// SPDX-License-Identifier: Apache-2.0

import Broker
import Testing
import ThreadDataset

@testable import Bridge

@Suite("Numbers of sealed events")
struct SealedOrderLimitTests {
  private let bridge: TestBridge

  init() throws { bridge = try TestBridge() }

  private func take(
    _ sequence: UInt64, _ subject: String, user: String = "anna", most: Int = 3
  ) throws -> SequenceWindow.Verdict {
    let home = try bridge.home()
    return try bridge.database.write {
      try SealedOrderLedger.take(
        sequence,
        of: .init(home: home.id, user: user, issuer: [1], subject: .accessPoint(subject)),
        most: most, $0)
    }
  }

  @Test("A signer has so many, and what was forgotten cannot be repeated")
  func limit() throws {
    for number: UInt64 in 1...10 { #expect(try take(number * 10, "ap \(number)") == .news) }
    let rows = try bridge.database.read {
      try $0.first("SELECT count(*) FROM sealed_order") { $0.integer(0) }
    }
    #expect(rows == 3)
    #expect(try take(10, "ap 1") == .outOfOrder)
    #expect(try take(70, "another") == .outOfOrder)
    #expect(try take(100, "ap 10") == .duplicate)
    #expect(try take(101, "ap 10") == .news)
    #expect(try take(95, "ap 1") == .news)
    #expect(try take(5, "ap 1", user: "bob") == .news, "the mark is that of one signer")
  }

  @Test("Below the limit each router has numbers of its own")
  func below() throws {
    #expect(try take(1_000, "one") == .news)
    #expect(try take(1, "two") == .news)
    #expect(try take(2, "two") == .news)
  }
}
