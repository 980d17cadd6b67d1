// SPDX-License-Identifier: Apache-2.0

import SodiumCrypto
import Testing

@testable import SealedEnvelope

@Suite struct ReplayWindowTests {
  private let now: Int64 = 1_800_000_000

  private func envelope(
    _ id: String, from issuer: PublicIdentity, at time: Int64
  ) -> OpenedEnvelope {
    OpenedEnvelope(
      body: [], issuer: issuer, order: .identifier(id), issuedAt: time, expiresAt: time + 30)
  }

  @Test func anEnvelopeCountsOnce() throws {
    let (one, other) = (try Identity().keys, try Identity().keys)
    var window = ReplayWindow(now: now)
    #expect(window.take(envelope("a", from: one, at: now), now: now) == .news)
    #expect(window.take(envelope("a", from: one, at: now), now: now) == .replayed)
    #expect(window.take(envelope("b", from: one, at: now), now: now) == .news)
    #expect(window.take(envelope("a", from: other, at: now), now: now) == .news)
  }

  @Test func itIsRememberedForAsLongAsItOpens() throws {
    let issuer = try Identity().keys
    var window = ReplayWindow(now: now)
    #expect(window.take(envelope("a", from: issuer, at: now), now: now) == .news)
    // Many others come in between, and make room of what is over.
    for moment in 0..<89 {
      for number in 0..<2 {
        _ = window.take(
          envelope("\(moment)-\(number)", from: issuer, at: now + Int64(moment)),
          now: now + Int64(moment))
      }
      #expect(
        window.take(envelope("a", from: issuer, at: now), now: now + Int64(moment)) == .replayed)
    }
  }

  @Test func oneIssuerCannotFillTheMemory() throws {
    let (one, other) = (try Identity().keys, try Identity().keys)
    var window = ReplayWindow(now: now)
    for number in 0..<ReplayWindow.identifiersPerIssuer {
      #expect(window.take(envelope("\(number)", from: one, at: now), now: now) == .news)
    }
    #expect(window.take(envelope("one more", from: one, at: now), now: now) == .full)
    #expect(window.take(envelope("one more", from: other, at: now), now: now) == .news)
    let later = now + 91
    #expect(window.take(envelope("one more", from: one, at: later), now: later) == .news)
  }

  @Test func whatIsOlderThanTheWindowIsNotBelieved() throws {
    let issuer = try Identity().keys
    var window = ReplayWindow(now: now)
    #expect(window.take(envelope("a", from: issuer, at: now - 1), now: now) == .replayed)
  }
}
