// SPDX-License-Identifier: Apache-2.0

/// Remembers the `id` of every envelope for as long as it could come again. Pure: the time comes in.
///
/// It lives in memory. What was signed before it began is taken for a repetition, since nobody
/// knows: a client that asks again a second later is answered.
package struct ReplayWindow: Sendable {
  package enum Verdict: Hashable, Sendable {
    case news
    case replayed
    /// This issuer has too many envelopes alive; nothing is known of this one.
    case full
  }

  /// Envelopes of one issuer that can be alive at a time.
  package static let identifiersPerIssuer = 256

  private let began: Int64
  /// When each `id` is forgotten, by the hash of the issuer's signing key: those are enrolled, so there
  /// are not many.
  private var seen: [String: [String: Int64]] = [:]

  /// - Parameter now: Unix seconds.
  package init(now: Int64) {
    began = now
  }

  /// Takes note of an envelope that was opened, and says what it is. One with a `seq` is judged by that.
  package mutating func take(
    _ envelope: OpenedEnvelope, now: Int64, skew: Int64 = Envelope.skew
  ) -> Verdict {
    guard case .identifier(let identifier) = envelope.order, let end = envelope.expiresAt else {
      return .news
    }
    guard envelope.issuedAt >= began else { return .replayed }
    var known = seen[envelope.issuer.signingHash] ?? [:]
    if known[identifier] != nil { return .replayed }
    if known.count >= Self.identifiersPerIssuer {
      known = known.filter { $0.value > now }
      guard known.count < Self.identifiersPerIssuer else { return .full }
    }
    known[identifier] = end + skew
    seen[envelope.issuer.signingHash] = known
    return .news
  }
}
