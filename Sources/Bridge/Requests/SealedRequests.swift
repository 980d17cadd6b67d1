import Broker
import Home
import SodiumCrypto

/// Which sealed requests have come: an `id` counts once for its signer, also after a restart.
///
/// A record of no home for each signer: few clients sign requests, and each one is remembered for as long as its
/// envelope opens, six minutes at most. What is forgotten leaves its end behind: up to there nothing of this signer
/// counts any more. So a clock that is set back brings nothing back. That is kept for each signer, because the clock
/// may have been wrong before, not after: then a new key ends it.
///
/// A value: with the homes, the loop keeps a copy and puts it back where a commit fails.
///
/// ```
/// | kind | form | signer, 16 bytes | forgotten up to, 8 | id, 16 | ends, 8 | …   numbers little-endian
/// ```
package struct SealedRequests: Equatable, Sendable {
  /// Requests of one signer that can be alive at a time: at the pace that the daemon takes them, a signer of ordinary
  /// ones never has as many.
  static let mostOfSigner = 1_024

  package enum Verdict: Hashable, Sendable {
    case news
    case replayed
    /// As old as others of this signer that are forgotten, so nobody knows: a clock was set back.
    case forgotten
    /// This signer has too many alive; nothing is remembered of this one.
    case full
  }

  private struct Signer: Hashable {
    /// Unix seconds from which on the envelope of an id does not open any more.
    var ends: [Hash128: Int64] = [:]
    var forgotten = Int64.min
  }

  private var signers: [Hash128: Signer] = [:]
  /// Whose records are to be written.
  private var changed: Set<Hash128> = []

  package init() {}

  /// Notes a request that was opened.
  ///
  /// - Parameters:
  ///   - ends: from when on its envelope does not open any more; Unix seconds, as is `now`.
  package mutating func take(_ identifier: String, of issuer: PublicIdentity, ends: Int64, now: Int64) -> Verdict {
    let key = Hash128(hashing: issuer.signingKey)
    let name = Hash128(hashing: Array(identifier.utf8))
    var signer = signers[key] ?? Signer()
    for (old, end) in signer.ends where end <= now {
      signer.ends[old] = nil
      signer.forgotten = max(signer.forgotten, end)
    }
    defer {
      if signer != signers[key] {
        signers[key] = signer
        changed.insert(key)
      }
    }
    guard ends > signer.forgotten else { return .forgotten }
    guard signer.ends[name] == nil else { return .replayed }
    guard signer.ends.count < Self.mostOfSigner else { return .full }
    signer.ends[name] = ends
    return .news
  }

  // MARK: Records

  /// No record of a home begins so.
  package static let kind: UInt8 = 64
  private static let form: UInt8 = 1
  private static let head = 26
  private static let entry = 24

  /// Whose records are to be written, since the last call.
  package mutating func takeChanges() -> Set<Hash128> {
    defer { changed = [] }
    return changed
  }

  package func record(_ key: Hash128) -> [UInt8] {
    let signer = signers[key] ?? Signer()
    var bytes = [Self.kind, Self.form]
    bytes.reserveCapacity(Self.head + Self.entry * signer.ends.count)
    bytes.append(key)
    bytes.append(UInt64(bitPattern: signer.forgotten))
    for (name, end) in signer.ends {
      bytes.append(name)
      bytes.append(UInt64(bitPattern: end))
    }
    return bytes
  }

  /// - Returns: whose record it is; nil for what is none.
  package mutating func load(_ bytes: [UInt8]) -> Hash128? {
    guard bytes.count >= Self.head, (bytes.count - Self.head) % Self.entry == 0, bytes[0] == Self.kind,
      bytes[1] == Self.form
    else { return nil }
    let key = bytes.hash(at: 2)
    var signer = Signer()
    signer.forgotten = Int64(bitPattern: bytes.number(at: 18))
    for start in stride(from: Self.head, to: bytes.count, by: Self.entry) {
      signer.ends[bytes.hash(at: start)] = Int64(bitPattern: bytes.number(at: start + 16))
    }
    signers[key] = signer
    return key
  }
}

extension Hash128 {
  /// The first half of BLAKE2b-256, without a key: for what is no secret.
  package init(hashing bytes: [UInt8]) {
    let hash = (try? BLAKE2b.hash256(bytes)) ?? [UInt8](repeating: 0, count: 32)
    self = hash.hash(at: 0)
  }
}

extension [UInt8] {
  fileprivate mutating func append(_ number: UInt64) {
    Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
  }

  fileprivate mutating func append(_ hash: Hash128) {
    append(hash.high)
    append(hash.low)
  }

  fileprivate func number(at start: Int) -> UInt64 {
    self[start..<start + 8].reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  fileprivate func hash(at start: Int) -> Hash128 { Hash128(high: number(at: start), low: number(at: start + 8)) }
}
