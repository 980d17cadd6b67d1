import CLibCrypto
import SodiumCrypto

/// Fills memory with random bytes that nobody can guess; tests have the bytes of a recorded conversation.
package typealias RandomSource = (UnsafeMutableRawBufferPointer) -> Void

/// The curve P-256 (FIPS 186-4, D.1.2.3), by libcrypto. With a number that is secret one point is multiplied at a time:
/// that takes the same time whatever the number is.
enum P256 {
  /// Bytes of a number and of a coordinate.
  static let length = 32
  /// Bytes of a point: 4, x, y (SEC 1, 2.3.3, uncompressed).
  static let pointLength = 65

  // Nobody changes it after it is made. libcrypto's functions fail where it is missing.
  nonisolated(unsafe) fileprivate static let group = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1)
  /// How many points there are, which is a prime number.
  nonisolated(unsafe) fileprivate static let order = group.flatMap { EC_GROUP_get0_order($0) }
}

/// A number modulo the order of P-256. It is zeroed when released.
// Unchecked because it does not change after init has returned.
final class Scalar: @unchecked Sendable {
  fileprivate let number: OpaquePointer

  fileprivate init() throws(KeyExchangeError) {
    guard let number = BN_new() else { throw .libraryFailed }
    self.number = number
    BN_set_flags(number, BN_FLG_CONSTTIME)
  }

  deinit { BN_clear_free(number) }

  /// A random number from 1 to the order less one.
  convenience init(random: RandomSource) throws(KeyExchangeError) {
    try self.init()
    repeat {
      let isFilled = withScratchMemory(P256.length) { memory in
        random(memory)
        return BN_bin2bn(memory.pointer, Int32(memory.count), number) != nil
      }
      try require(isFilled)
    } while BN_is_zero(number) == 1 || BN_cmp(number, P256.order) >= 0
  }

  /// Bytes as a big-endian number, modulo the order: not 0.
  convenience init(reducing bytes: UnsafeRawBufferPointer) throws(KeyExchangeError) {
    try self.init()
    try require(BN_bin2bn(bytes.pointer, Int32(bytes.count), number) != nil)
    try Self.compute { BN_div(nil, number, number, P256.order, $0) }
    guard BN_is_zero(number) == 0 else { throw .unusableSecret }
  }

  /// Bytes as a big-endian number that is smaller than the order.
  convenience init(decoding bytes: ArraySlice<UInt8>) throws(KeyExchangeError) {
    try self.init()
    try require(BN_bin2bn(Array(bytes), Int32(bytes.count), number) != nil)
    guard BN_cmp(number, P256.order) < 0 else { throw .numberTooLarge }
  }

  /// Big-endian, without zeros in front.
  var bytes: [UInt8] {
    [UInt8](unsafeUninitializedCapacity: P256.length) { buffer, count in
      count = Int(BN_bn2bin(number, buffer.baseAddress))
    }
  }

  func times(_ other: Scalar) throws(KeyExchangeError) -> Scalar {
    let product = try Scalar()
    try Self.compute { BN_mod_mul(product.number, number, other.number, P256.order, $0) }
    return product
  }

  func minus(_ other: Scalar) throws(KeyExchangeError) -> Scalar {
    let difference = try Scalar()
    try Self.compute { BN_mod_sub(difference.number, number, other.number, P256.order, $0) }
    return difference
  }

  private static func compute(_ body: (OpaquePointer) -> Int32) throws(KeyExchangeError) {
    guard let context = BN_CTX_secure_new(), P256.order != nil else { throw .libraryFailed }
    defer { BN_CTX_free(context) }
    try require(body(context))
  }
}

/// A point of P-256 that is not the one at infinity. It is zeroed when released.
// Unchecked because it does not change after init has returned.
final class Point: @unchecked Sendable {
  private let point: OpaquePointer

  private init() throws(KeyExchangeError) {
    guard P256.group != nil, let point = EC_POINT_new(P256.group) else { throw .libraryFailed }
    self.point = point
  }

  deinit { EC_POINT_clear_free(point) }

  static func generator() throws(KeyExchangeError) -> Point {
    let generator = try Point()
    try require(EC_POINT_copy(generator.point, EC_GROUP_get0_generator(P256.group)))
    return generator
  }

  /// - Throws: `KeyExchangeError`: not 65 bytes of the uncompressed form, or not on the curve.
  convenience init(decoding bytes: ArraySlice<UInt8>) throws(KeyExchangeError) {
    guard bytes.count == P256.pointLength, bytes.first == UInt8(POINT_CONVERSION_UNCOMPRESSED.rawValue) else {
      throw .notUncompressed
    }
    try self.init()
    guard EC_POINT_oct2point(P256.group, point, Array(bytes), bytes.count, nil) == 1,
      EC_POINT_is_on_curve(P256.group, point, nil) == 1
    else { throw .notOnCurve }
    try checkIsFinite()
  }

  func times(_ scalar: Scalar) throws(KeyExchangeError) -> Point {
    let product = try Point()
    try require(EC_POINT_mul(P256.group, product.point, nil, point, scalar.number, nil))
    try product.checkIsFinite()
    return product
  }

  func plus(_ other: Point) throws(KeyExchangeError) -> Point {
    let sum = try Point()
    try require(EC_POINT_add(P256.group, sum.point, point, other.point, nil))
    try sum.checkIsFinite()
    return sum
  }

  func minus(_ other: Point) throws(KeyExchangeError) -> Point {
    let negative = try Point()
    try require(EC_POINT_copy(negative.point, other.point))
    try require(EC_POINT_invert(P256.group, negative.point, nil))
    return try plus(negative)
  }

  func isEqual(to other: Point) -> Bool { EC_POINT_cmp(P256.group, point, other.point, nil) == 0 }

  /// 65 bytes, uncompressed.
  func bytes() throws(KeyExchangeError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: P256.pointLength)
    let count = EC_POINT_point2oct(P256.group, point, POINT_CONVERSION_UNCOMPRESSED, &bytes, bytes.count, nil)
    try require(count == bytes.count)
    return bytes
  }

  /// SHA-256 of the coordinate x in 32 bytes.
  func hashOfX() throws(KeyExchangeError) -> SecretBytes {
    let x = try Scalar()
    try require(EC_POINT_get_affine_coordinates(P256.group, point, x.number, nil, nil))
    let bytes = SecretBytes(capacity: P256.length) { Int(BN_bn2binpad(x.number, $0.pointer, Int32($0.count))) }
    return try bytes.withUnsafeBytes { bytes throws(KeyExchangeError) in try sha256(bytes.pointer, bytes.count) }
  }

  private func checkIsFinite() throws(KeyExchangeError) {
    guard EC_POINT_is_at_infinity(P256.group, point) == 0 else { throw .atInfinity }
  }
}

func sha256(_ bytes: UnsafePointer<UInt8>?, _ count: Int) throws(KeyExchangeError) -> SecretBytes {
  try SecretBytes(capacity: P256.length) { hash throws(KeyExchangeError) in
    try require(SHA256(bytes, count, hash.pointer) != nil)
    return hash.count
  }
}

/// What libcrypto has answered.
func require(_ isDone: Bool) throws(KeyExchangeError) { guard isDone else { throw .libraryFailed } }

func require(_ result: Int32) throws(KeyExchangeError) { try require(result == 1) }

extension UnsafeRawBufferPointer {
  var pointer: UnsafePointer<UInt8>? { baseAddress?.assumingMemoryBound(to: UInt8.self) }
}

extension UnsafeMutableRawBufferPointer {
  var pointer: UnsafeMutablePointer<UInt8>? { baseAddress?.assumingMemoryBound(to: UInt8.self) }
}
