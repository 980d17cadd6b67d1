// SPDX-License-Identifier: Apache-2.0

/// The signed object but for its body, which stays as the bytes that it is.
struct EnvelopeClaims: Codable {
  /// The full hash of the recipient's sealing key, and of the signer's signing key: 64 hex digits.
  var aud: String
  var iss: String
  var topic: String
  var seq: UInt64?
  var id: String?
  /// Unix seconds.
  var iat: Int64
  var exp: Int64?

  /// Exactly one of `seq` and `id`, and what an `id` needs.
  var order: Envelope.Order? {
    switch (seq, id) {
    case (let sequence?, nil): return .sequence(sequence)
    case (nil, let identifier?):
      guard exp != nil, (1...Envelope.identifierLimit).contains(identifier.utf8.count) else {
        return nil
      }
      return .identifier(identifier)
    default: return nil
    }
  }

  /// Whether `exp` is after `iat`, and not by more than replays are remembered.
  var hasSoundLifetime: Bool {
    guard let exp else { return true }
    let (lifetime, overflows) = exp.subtractingReportingOverflow(iat)
    return !overflows && lifetime > 0 && lifetime <= Envelope.longestLifetime
  }
}

/// The two layers around it.
struct EnvelopeOutside: Codable {
  var v: Int?
  var typ: String?
  var alg: String?
  var kid: String?
  var ct: String?
}

struct EnvelopeInside: Codable {
  var signed: String
  var sig: String
}
