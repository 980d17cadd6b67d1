import SodiumCrypto

/// EC-JPAKE on P-256 (RFC 8236, section 3, with the Schnorr proofs of RFC 8235): two sides with the same secret get the
/// same key. A side with another secret learns that this one guess is wrong, and nothing else.
///
/// ```
/// client                                        server
/// X1 = x1·G, X2 = x2·G, their proofs   ──────►
///                                      ◄──────  X3 = x3·G, X4 = x4·G, their proofs
///                                      ◄──────  B = (X1 + X2 + X3)·x4·s, its proof
/// A = (X3 + X4 + X1)·x2·s, its proof   ──────►
/// (B − X4·x2·s)·x2            the same point    (A − X2·x4·s)·x4
/// ```
///
/// The messages are those of draft-cragie-tls-ecjpake-01, section 7.2. A value of this type holds one side's secrets:
/// release it when the key is there.
package struct KeyExchange: Sendable {
  package enum Role: Sendable {
    case client, server

    /// The name of the side in its proofs.
    fileprivate var identity: [UInt8] { Array((self == .client ? "client" : "server").utf8) }
    fileprivate var peer: Role { self == .client ? .server : .client }
  }

  private let role: Role
  private let secret: Scalar
  private let numbers: (first: Scalar, second: Scalar)
  private let points: (first: Point, second: Point)
  /// For the proof of the second round, until that is made: two proofs with one nonce would give the number away.
  private var nonce: Scalar?
  private var peer: (first: Point, second: Point)?

  /// What the hello of this side has in its extension `ecjpake_key_kp_pair`: two `ECJPAKEKeyKP`, at most 330 bytes.
  package let firstRound: [UInt8]

  /// - Parameters:
  ///   - secret: PSKc or code, as a big-endian number.
  ///   - random: five numbers are taken: two keys, the nonces of their proofs, the nonce of the second round.
  /// - Throws: `KeyExchangeError`: the secret is a multiple of the curve's order, such as 0.
  package init(_ role: Role, secret: SecretBytes, random: RandomSource) throws(KeyExchangeError) {
    self.role = role
    self.secret = try secret.withUnsafeBytes { bytes throws(KeyExchangeError) in try Scalar(reducing: bytes) }
    numbers = (try Scalar(random: random), try Scalar(random: random))
    let generator = try Point.generator()
    points = (try generator.times(numbers.first), try generator.times(numbers.second))
    let nonces = (try Scalar(random: random), try Scalar(random: random))
    firstRound =
      try ProvenKey.write(points.first, numbers.first, on: generator, by: role.identity, nonce: nonces.0)
      + ProvenKey.write(points.second, numbers.second, on: generator, by: role.identity, nonce: nonces.1)
    nonce = try Scalar(random: random)
  }

  /// Takes what the other side's hello has.
  ///
  /// - Throws: `KeyExchangeError`: no two points of the curve, each with its proof.
  package mutating func receiveFirstRound(_ bytes: some Collection<UInt8>) throws(KeyExchangeError) {
    var reader = ByteReader(ArraySlice(bytes))
    let (generator, identity) = (try Point.generator(), role.peer.identity)
    let first = try ProvenKey.read(from: &reader, on: generator, by: identity)
    let second = try ProvenKey.read(from: &reader, on: generator, by: identity)
    guard reader.isAtEnd else { throw .tooLong }
    peer = (first, second)
  }

  /// This side's second round: one `ECJPAKEKeyKP`, at most 165 bytes.
  ///
  /// - Throws: `KeyExchangeError`: the first round is missing, or its points add up to the one at infinity, or this is
  ///   not the first call.
  package mutating func secondRound() throws(KeyExchangeError) -> [UInt8] {
    guard let peer, let nonce else { throw .outOfOrder }
    self.nonce = nil
    let base = try peer.first.plus(peer.second).plus(points.first)
    let number = try numbers.second.times(secret)
    return try ProvenKey.write(base.times(number), number, on: base, by: role.identity, nonce: nonce)
  }

  /// The premaster secret, of the other side's second round: 32 bytes.
  ///
  /// - Throws: `KeyExchangeError`: no point of the curve with its proof, or the key would be known to all.
  package func premasterSecret(from secondRound: some Collection<UInt8>) throws(KeyExchangeError) -> SecretBytes {
    guard let peer else { throw .outOfOrder }
    var reader = ByteReader(ArraySlice(secondRound))
    let base = try points.first.plus(points.second).plus(peer.first)
    let point = try ProvenKey.read(from: &reader, on: base, by: role.peer.identity)
    guard reader.isAtEnd else { throw .tooLong }
    let blinded = try peer.second.times(numbers.second.times(secret))
    return try point.minus(blinded).times(numbers.second).hashOfX()
  }
}

/// What is wrong with a message of the key exchange. It says nothing of the secret.
package enum KeyExchangeError: String, Error, CustomStringConvertible {
  case truncated = "it is too short"
  case tooLong = "bytes follow its end"
  case notUncompressed = "a point is not in the uncompressed form of 65 bytes"
  case notOnCurve = "a point is not on the curve"
  case atInfinity = "a point is the one at infinity"
  case numberTooLarge = "the number of a proof is not below the curve's order"
  case wrongProof = "a proof is wrong"
  case outOfOrder = "a round is out of order"
  case unusableSecret = "the secret is zero"
  /// No memory, or not this curve.
  case libraryFailed = "libcrypto failed"

  package var description: String { rawValue }
}

/// `ECJPAKEKeyKP`: a point, and the proof that its sender knows the number behind it (RFC 8235, section 3).
///
/// ```
/// | 65 | point X, 65 bytes | 65 | point V | length of r | r, without zeros in front |
/// ```
/// V = v·g for a random v, h = SHA-256(g, V, X, identity), each with its length in 4 bytes before it, r = v − x·h. It
/// holds where r·g + h·X = V.
private enum ProvenKey {
  static func write(_ point: Point, _ number: Scalar, on base: Point, by identity: [UInt8], nonce: Scalar)
    throws(KeyExchangeError) -> [UInt8]
  {
    let commitment = try base.times(nonce)
    let challenge = try challenge(point, commitment, base, identity)
    let response = try nonce.minus(number.times(challenge)).bytes
    let length = UInt8(P256.pointLength)
    return try [length] + point.bytes() + [length] + commitment.bytes() + [UInt8(response.count)] + response
  }

  static func read(from reader: inout ByteReader<ArraySlice<UInt8>>, on base: Point, by identity: [UInt8])
    throws(KeyExchangeError) -> Point
  {
    guard let pointBytes = reader.counted(), let commitmentBytes = reader.counted(),
      let responseBytes = reader.counted()
    else { throw .truncated }
    guard (1...P256.length).contains(responseBytes.count) else { throw .numberTooLarge }
    let (point, commitment) = (try Point(decoding: pointBytes), try Point(decoding: commitmentBytes))
    let response = try Scalar(decoding: responseBytes)
    let challenge = try challenge(point, commitment, base, identity)
    // A response or a challenge of 0 would be a point at infinity. Nobody honest ever has one.
    let sum = try base.times(response).plus(point.times(challenge))
    guard sum.isEqual(to: commitment) else { throw .wrongProof }
    return point
  }

  private static func challenge(_ point: Point, _ commitment: Point, _ base: Point, _ identity: [UInt8])
    throws(KeyExchangeError) -> Scalar
  {
    var hashed: [UInt8] = []
    for part in [try base.bytes(), try commitment.bytes(), try point.bytes(), identity] {
      hashed += bigEndian(part.count, 4)
      hashed += part
    }
    return try sha256(hashed, hashed.count).withUnsafeBytes { bytes throws(KeyExchangeError) in
      try Scalar(reducing: bytes)
    }
  }
}
