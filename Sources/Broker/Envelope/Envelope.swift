import SodiumCrypto
import ThreadDataset
import ThreadRequests
import ThreadkeeperSupport
import Wire

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
  /// not show how long a dataset or a name is, nor whether there is one: one such block has room for
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

extension Envelope {
  /// Bytes of the largest body that an envelope for this place can hold, whoever seals it and to whom:
  /// for who wants to know before there is anything to seal.
  package static func room(at place: Place) -> Int {
    let hash = String(repeating: "0", count: 64)
    let outside = SealedText(to: keyIDSample, "").json()
    let blocks = (base64Room(limit - outside.count) - SealedBox.overhead) / block
    let inside = EnvelopeInside(signed: "", sig: signatureSample).json()
    let claims = claims(of: place, to: hash, from: hash).json()
    return max(0, base64Room(blocks * block - inside.count) - claims.count - bodyMember.count)
  }

  private static let keyIDSample = String(repeating: "0", count: 16)
  private static let signatureSample = Base64.encode([UInt8](repeating: 0, count: 64))

  /// How many bytes are at most so many characters of Base64.
  private static func base64Room(_ characters: Int) -> Int { characters / 4 * 3 }
}

/// The signed object but for its body, which stays as the bytes that it is.
struct EnvelopeClaims: WireMessage {
  /// The full hash of the recipient's sealing key, and of the signer's signing key: 64 hex digits.
  var aud = ""
  var iss = ""
  var topic = ""
  var seq: UInt64?
  var id: String?
  /// Unix seconds.
  var iat: Int64 = 0
  var exp: Int64?

  mutating func fields<Coder: WireCoder>(_ c: inout Coder) {
    c.needed("aud", &aud)
    c.field("exp", &exp)
    c.needed("iat", &iat)
    c.field("id", &id)
    c.needed("iss", &iss)
    c.field("seq", &seq)
    c.needed("topic", &topic)
  }

  /// Exactly one of `seq` and `id`, and what an `id` needs.
  var order: Envelope.Order? {
    switch (seq, id) {
    case (let sequence?, nil): return .sequence(sequence)
    case (nil, let identifier?):
      guard exp != nil, (1...Envelope.identifierLimit).contains(identifier.utf8.count) else { return nil }
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

/// The layer around it, in a `SealedText`.
struct EnvelopeInside: WireMessage {
  var signed = ""
  var sig = ""

  mutating func fields<Coder: WireCoder>(_ c: inout Coder) {
    c.needed("sig", &sig)
    c.needed("signed", &signed)
  }
}

extension SealedText {
  fileprivate init(to keyID: String, _ box: String) {
    self.init()
    (v, typ, alg, kid, ct) = (Envelope.version, Envelope.kind, Envelope.algorithm, keyID, box)
  }
}

/// A payload that is sealed: an event, or an order to adopt, which has `v`.
package struct SealedPayload: WireMessage {
  package var sealed = SealedText()
  private var version: WireVersion?

  package init() {}

  package init(_ sealed: SealedText, _ version: WireVersion? = nil) { (self.sealed, self.version) = (sealed, version) }

  package mutating func fields<Coder: WireCoder>(_ c: inout Coder) {
    c.needed("sealed", &sealed)
    c.field("v", &version)
  }
}

/// What an order holds, sealed: the dataset that a router shall use, or a change of a store of credentials.
package struct SealedOrder: WireMessage {
  package var agent: BorderAgentID?
  package var dataset: WireDataset?
  /// Of a store: whether the network is deleted there. Else the border agent is the one that is preferred for it.
  package var deletes: Bool?
  package var extendedAddress: WireHex?
  package var network: ExtendedPANID?
  /// That of its envelope.
  package var id: String?

  package init() {}

  package mutating func fields<Coder: WireCoder>(_ c: inout Coder) {
    c.field("border_agent_id", &agent)
    c.field("dataset", &dataset)
    c.field("delete", &deletes)
    c.field("ext_address", &extendedAddress)
    c.field("ext_pan_id", &network)
    c.field("id", &id, "That of the envelope.")
  }
}

/// What an envelope held, and who signed it.
package struct OpenedEnvelope: Sendable {
  /// A JSON object, exactly as it was signed. It may be secret: wipe it when it is read.
  package var body: [UInt8]
  package let issuer: PublicIdentity
  package let order: Envelope.Order
  /// Unix seconds.
  package let issuedAt: Int64
  package let expiresAt: Int64?
}

extension OpenedEnvelope: CustomStringConvertible, CustomReflectable {
  /// Never the body.
  package var description: String { "an envelope of \(issuer)" }
  package var customMirror: Mirror { Mirror(self, children: ["issuer": issuer.fingerprint]) }
}

/// Why something cannot be sealed.
package enum SealingError: Error, Equatable, Sendable {
  /// The body is no JSON object.
  case notAnObject
  /// The envelope would have more than `Envelope.limit` bytes.
  case tooLarge
  /// An `id` needs a lifetime, and has 1 to 128 bytes; a lifetime is 1 to 300 seconds.
  case badOrder
  case crypto(SodiumError)

  package var message: String {
    switch self {
    case .notAnObject: "what is to be sealed is no JSON object"
    case .tooLarge: "what is to be sealed is too long: an envelope has at most \(Envelope.limit) bytes"
    case .badOrder:
      "an id has 1 to \(Envelope.identifierLimit) bytes, and a lifetime 1 to " + "\(Envelope.longestLifetime) seconds"
    case .crypto(let error): error.description
    }
  }
}

extension Envelope {
  /// Where an envelope belongs, and when.
  package struct Place: Sendable {
    /// The whole topic on which it will be published.
    package var topic: String
    package var order: Order
    /// Unix seconds.
    package var now: Int64
    /// Seconds; nil: for ever, which takes an `order` that rises.
    package var lifetime: Int64?

    package init(topic: String, order: Order, now: Int64, lifetime: Int64? = nil) {
      self.topic = topic
      self.order = order
      self.now = now
      self.lifetime = lifetime
    }
  }

  /// - Parameter body: the text of a JSON object. It goes into the envelope as it is.
  package static func seal(_ body: [UInt8], to recipient: PublicIdentity, from sender: Identity, at place: Place)
    throws(SealingError) -> SealedText
  {
    guard (try? UntrustedJSON.check(body, depth: nesting - 1)) == true else { throw .notAnObject }
    let claims = claims(of: place, to: recipient.sealingHash, from: sender.keys.signingHash)
    guard claims.order != nil, claims.hasSoundLifetime else { throw .badOrder }
    var signed = claims.json()
    // The claims are a flat object: the body becomes its last member.
    signed.removeLast()
    signed += bodyMember + body + [UInt8(ascii: "}")]
    defer { wipe(&signed) }
    return try seal(signed: signed, to: recipient, from: sender)
  }

  static let bodyMember = Array(",\"body\":".utf8)

  static func claims(of place: Place, to audience: String, from issuer: String) -> EnvelopeClaims {
    var claims = EnvelopeClaims()
    (claims.aud, claims.iss, claims.topic) = (audience, issuer, place.topic)
    (claims.iat, claims.exp) = (place.now, place.lifetime.map { place.now &+ $0 })
    switch place.order {
    case .sequence(let sequence): claims.seq = sequence
    case .identifier(let identifier): claims.id = identifier
    }
    return claims
  }

  /// Signs exactly these bytes, and seals them.
  static func seal(signed: [UInt8], to recipient: PublicIdentity, from sender: Identity) throws(SealingError)
    -> SealedText
  {
    let signature: [UInt8]
    do throws(SodiumError) { signature = try sender.signing.sign(domain + signed) } catch { throw .crypto(error) }
    return try seal(
      inside: EnvelopeInside(signed: Base64.encode(signed), sig: Base64.encode(signature)).json(), to: recipient)
  }

  /// Fills up and seals.
  static func seal(inside: [UInt8], to recipient: PublicIdentity) throws(SealingError) -> SealedText {
    let length = (inside.count + block - 1) / block * block
    var padded = inside + [UInt8](repeating: 0x20, count: length - inside.count)
    defer { wipe(&padded) }
    var box = [UInt8](repeating: 0, count: length + SealedBox.overhead)
    do {
      try box.withUnsafeMutableBytes { box in
        try padded.withUnsafeBytes { try SealedBox.seal($0, to: recipient.sealingKey, into: box) }
      }
    } catch { throw .crypto(error as? SodiumError ?? .unusableKey) }
    let sealed = SealedText(to: recipient.keyID, Base64.encode(box))
    guard sealed.json().count <= limit else { throw .tooLarge }
    return sealed
  }
}

extension Envelope {
  /// Opens an envelope and believes nothing of it that is not signed.
  ///
  /// - Parameters:
  ///   - identity: of the reader.
  ///   - senders: who may have signed it.
  ///   - topic: on which it came.
  ///   - now: Unix seconds.
  ///   - skew: seconds that the clocks may differ.
  package static func open(
    _ bytes: [UInt8], with identity: Identity, from senders: [PublicIdentity], topic: String, now: Int64,
    skew: Int64 = Envelope.skew
  ) throws(EnvelopeRefusal) -> OpenedEnvelope {
    guard bytes.count <= limit else { throw .tooLarge }
    return try open(read(bytes), with: identity, from: senders, topic: topic, now: now, skew: skew)
  }

  /// As above.
  package static func open(
    _ sealed: SealedText, with identity: Identity, from senders: [PublicIdentity], topic: String, now: Int64,
    skew: Int64 = Envelope.skew
  ) throws(EnvelopeRefusal) -> OpenedEnvelope {
    guard sealed.ct.utf8.count <= limit else { throw .tooLarge }
    var inside = try unseal(sealed, with: identity)
    defer { wipe(&inside) }
    let parts: EnvelopeInside = try read(inside)
    guard var signed = Base64.decode(parts.signed), let signature = Base64.decode(parts.sig) else {
      throw .notAnEnvelope
    }
    defer { wipe(&signed) }
    let claims: EnvelopeClaims = try read(signed)
    guard let issuer = senders.first(where: { $0.signingHash == claims.iss }) else { throw .unknownIssuer }
    guard Ed25519.isValid(signature, of: domain + signed, by: issuer.signingKey) else { throw .badSignature }
    guard claims.aud == identity.keys.sealingHash else { throw .wrongAudience }
    guard claims.topic.utf8.elementsEqual(topic.utf8) else { throw .wrongTopic }
    guard let order = claims.order, claims.hasSoundLifetime,
      let body = UntrustedJSON.value(of: "body", in: signed, depth: nesting), body.first == UInt8(ascii: "{")
    else { throw .notAnEnvelope }
    try check(claims, now: now, skew: skew)
    return OpenedEnvelope(body: body, issuer: issuer, order: order, issuedAt: claims.iat, expiresAt: claims.exp)
  }

  /// The bytes in the box.
  private static func unseal(_ sealed: SealedText, with identity: Identity) throws(EnvelopeRefusal) -> [UInt8] {
    guard sealed.typ == kind else { throw .notAnEnvelope }
    guard sealed.v == version else { throw .unsupportedVersion }
    guard sealed.alg == algorithm else { throw .unsupportedAlgorithm }
    guard sealed.kid == identity.keys.keyID else { throw .unknownKeyID }
    guard let box = Base64.decode(sealed.ct) else { throw .notAnEnvelope }
    guard box.count > SealedBox.overhead else { throw .cannotOpen }
    var inside = [UInt8](repeating: 0, count: box.count - SealedBox.overhead)
    do {
      try inside.withUnsafeMutableBytes { inside in
        try box.withUnsafeBytes { box in try SealedBox.open(box, with: identity.sealing, into: inside) }
      }
    } catch { throw .cannotOpen }
    return inside
  }

  private static func check(_ claims: EnvelopeClaims, now: Int64, skew: Int64) throws(EnvelopeRefusal) {
    // Against overflow: numbers near the ends are no times.
    let times = 0...Int64(1) << 40
    guard times.contains(claims.iat) else { throw .notAnEnvelope }
    guard claims.iat <= now + skew else { throw .notYetValid }
    if let exp = claims.exp, now - skew >= exp { throw .expired }
  }

  private static func read<T: WireMessage>(_ bytes: [UInt8]) throws(EnvelopeRefusal) -> T {
    do throws(WireProblem) { return try T(reading: bytes, depth: nesting) } catch { throw .notAnEnvelope }
  }
}

/// Why an envelope was not opened. The names are stable: they are published, and written into scripts.
package enum EnvelopeRefusal: String, Error, CaseIterable, Sendable {
  case tooLarge = "too_large"
  /// It has not the form of an envelope, outside or inside.
  case notAnEnvelope = "not_an_envelope"
  case unsupportedVersion = "unsupported_version"
  case unsupportedAlgorithm = "unsupported_algorithm"
  /// Sealed to a key that the reader has not.
  case unknownKeyID = "unknown_kid"
  /// Altered, or sealed to another key than it says.
  case cannotOpen = "cannot_open"
  /// Signed by nobody whom the reader believes.
  case unknownIssuer = "unknown_issuer"
  case badSignature = "bad_signature"
  /// Signed for another reader, who has sealed it again.
  case wrongAudience = "wrong_audience"
  /// Signed for another topic.
  case wrongTopic = "wrong_topic"
  case expired
  /// Signed in the future, by more than the clocks may differ.
  case notYetValid = "not_yet_valid"
  /// It came before. Judged by who keeps count: of the ids of requests, or of the order of events.
  case replayed

  package var message: String {
    switch self {
    case .tooLarge: "an envelope has at most \(Envelope.limit) bytes"
    case .notAnEnvelope: "this has not the form of an envelope"
    case .unsupportedVersion: "envelopes of this version are not known here"
    case .unsupportedAlgorithm: "envelopes are sealed with \(Envelope.algorithm)"
    case .unknownKeyID: "sealed to a key that is not the recipient's current one; get its enrolment line again"
    case .cannotOpen: "the envelope does not open: it was altered, or sealed to another key"
    case .unknownIssuer: "signed by a key that is not enrolled for this user"
    case .badSignature: "the signature is not that of the enrolled key"
    case .wrongAudience: "signed for another recipient"
    case .wrongTopic: "signed for another topic"
    case .expired: "the envelope is too old; is a clock wrong?"
    case .notYetValid: "the envelope is from the future; is a clock wrong?"
    case .replayed: "this envelope came before"
    }
  }
}
