// SPDX-License-Identifier: Apache-2.0

/// What is sealed to one reader and signed by one writer, as it travels on the broker.
///
/// ```
/// {"v":1,"typ":"sealed","alg":"x25519-xsalsa20-poly1305-seal",
///  "kid":"<16 hex>",                      whose key opens it
///  "ct":"<base64>"}                       a sealed box, and in it
///     {"signed":"<base64>",               exactly the bytes that are signed:
///      "sig":"<base64>"}<spaces>             {"aud","iss","topic","seq" or "id","iat","exp","body"}
/// ```
///
/// A sealed box says nothing about who made it, so what is inside is signed: as bytes, so that there is
/// no canonical form to disagree on. `aud`, `topic`, `seq` or `id`, and the times keep it from being
/// sealed again for another, moved, repeated or kept.
package enum Envelope {
  package static let version = 1
  package static let kind = "sealed"
  package static let algorithm = "x25519-xsalsa20-poly1305-seal"
  /// The most bytes of an envelope: those of any payload that the daemon takes.
  package static let limit = 16_384
  /// Seconds for which requests and answers live.
  package static let requestLifetime: Int64 = 30
  /// Seconds that `exp` may lie after `iat`: replays are remembered for so long.
  package static let longestLifetime: Int64 = 300
  /// Seconds that two clocks may differ.
  package static let skew: Int64 = 60
  /// What is inside is filled up with spaces to a multiple of so many bytes, so that its length does
  /// not tell how long a dataset or a name is, nor whether there is one: one such block has room for
  /// an event with any dataset.
  static let block = 2048
  /// Goes before the bytes that are signed, so that no signature serves for anything else.
  static let domain = Array("threadkeeper/envelope/v1\0".utf8)
  /// The most bytes of an `id`.
  package static let identifierLimit = 128
  /// Objects and arrays within each other.
  package static let nesting = 16

  /// What makes an envelope different from every other one of its writer.
  package enum Order: Hashable, Sendable {
    /// Rises. For events: they may wait for their reader as long as need be.
    case sequence(UInt64)
    /// Unique while the envelope lives, which is why it needs an `exp`. For requests and answers.
    case identifier(String)
  }
}
