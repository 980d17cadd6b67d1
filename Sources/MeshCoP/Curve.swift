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

  /// To be called before all else.
  static func check() throws(KeyExchangeError) { guard order != nil else { throw .libraryFailed } }
}

/// A number modulo the order of P-256. It is zeroed when released.
// Unchecked because it does not change after init has returned.
final class Scalar: @unchecked Sendable {
  fileprivate let number: OpaquePointer

  private init() throws(KeyExchangeError) {
    guard let number = BN_new() else { throw .libraryFailed }
    self.number = number
    BN_set_flags(number, BN_FLG_CONSTTIME)
  }

  deinit { BN_clear_free(number) }

  /// A random number from 1 to the order less one.
  convenience init(random: RandomSource) throws(KeyExchangeError) {
    try self.init()
    var isFilled = true
    repeat {
      isFilled = withScratchMemory(P256.length) { memory in
        random(memory)
        return BN_bin2bn(memory.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(memory.count), number) != nil
      }
      guard isFilled else { throw .libraryFailed }
    } while BN_is_zero(number) == 1 || BN_cmp(number, P256.order) >= 0
  }

  /// Bytes as a big-endian number, modulo the order.
  convenience init(reducing bytes: UnsafeRawBufferPointer) throws(KeyExchangeError) {
    try self.init()
    guard BN_bin2bn(bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(bytes.count), number) != nil else {
      throw .libraryFailed
    }
    try Self.compute { BN_div(nil, number, number, P256.order, $0) }
  }

  /// Bytes as a big-endian number that is smaller than the order.
  convenience init(decoding bytes: ArraySlice<UInt8>) throws(KeyExchangeError) {
    try self.init()
    guard bytes.withUnsafeBufferPointer({ BN_bin2bn($0.baseAddress, Int32($0.count), number) }) != nil else {
      throw .libraryFailed
    }
    guard BN_cmp(number, P256.order) < 0 else { throw .numberTooLarge }
  }

  var isZero: Bool { BN_is_zero(number) == 1 }

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
    guard let context = BN_CTX_secure_new() else { throw .libraryFailed }
    defer { BN_CTX_free(context) }
    guard body(context) == 1 else { throw .libraryFailed }
  }
}

/// A point of P-256 that is not the one at infinity. It is zeroed when released.
// Unchecked because it does not change after init has returned.
final class Point: @unchecked Sendable {
  private let point: OpaquePointer
  private let isGenerator: Bool

  private init(isGenerator: Bool = false) throws(KeyExchangeError) {
    guard let point = EC_POINT_new(P256.group) else { throw .libraryFailed }
    (self.point, self.isGenerator) = (point, isGenerator)
  }

  deinit { EC_POINT_clear_free(point) }

  static func generator() throws(KeyExchangeError) -> Point {
    let generator = try Point(isGenerator: true)
    guard let source = EC_GROUP_get0_generator(P256.group), EC_POINT_copy(generator.point, source) == 1 else {
      throw .libraryFailed
    }
    return generator
  }

  /// - Throws: `KeyExchangeError`: not 65 bytes of the uncompressed form, or not on the curve.
  convenience init(decoding bytes: ArraySlice<UInt8>) throws(KeyExchangeError) {
    guard bytes.count == P256.pointLength, bytes.first == UInt8(POINT_CONVERSION_UNCOMPRESSED.rawValue) else {
      throw .notUncompressed
    }
    try self.init()
    let result = bytes.withUnsafeBufferPointer { EC_POINT_oct2point(P256.group, point, $0.baseAddress, $0.count, nil) }
    guard result == 1, EC_POINT_is_on_curve(P256.group, point, nil) == 1 else { throw .notOnCurve }
    try checkIsFinite()
  }

  func times(_ scalar: Scalar) throws(KeyExchangeError) -> Point {
    let product = try Point()
    let result =
      isGenerator
      ? EC_POINT_mul(P256.group, product.point, scalar.number, nil, nil, nil)
      : EC_POINT_mul(P256.group, product.point, nil, point, scalar.number, nil)
    guard result == 1 else { throw .libraryFailed }
    try product.checkIsFinite()
    return product
  }

  func plus(_ other: Point) throws(KeyExchangeError) -> Point {
    let sum = try Point()
    guard EC_POINT_add(P256.group, sum.point, point, other.point, nil) == 1 else { throw .libraryFailed }
    try sum.checkIsFinite()
    return sum
  }

  func minus(_ other: Point) throws(KeyExchangeError) -> Point {
    let negative = try Point()
    guard EC_POINT_copy(negative.point, other.point) == 1, EC_POINT_invert(P256.group, negative.point, nil) == 1 else {
      throw .libraryFailed
    }
    return try plus(negative)
  }

  func isEqual(to other: Point) -> Bool { EC_POINT_cmp(P256.group, point, other.point, nil) == 0 }

  /// 65 bytes, uncompressed.
  func bytes() throws(KeyExchangeError) -> [UInt8] {
    let bytes = [UInt8](unsafeUninitializedCapacity: P256.pointLength) { buffer, count in
      count = EC_POINT_point2oct(
        P256.group, point, POINT_CONVERSION_UNCOMPRESSED, buffer.baseAddress, P256.pointLength, nil)
    }
    guard bytes.count == P256.pointLength else { throw .libraryFailed }
    return bytes
  }

  /// SHA-256 of the coordinate x in 32 bytes.
  func hashOfX() throws(KeyExchangeError) -> SecretBytes {
    return try SecretBytes(capacity: P256.length) { hash throws(KeyExchangeError) in
      let isHashed = withScratchMemory(P256.pointLength) { memory in
        let bytes = memory.baseAddress?.assumingMemoryBound(to: UInt8.self)
        guard
          EC_POINT_point2oct(P256.group, point, POINT_CONVERSION_UNCOMPRESSED, bytes, memory.count, nil)
            == memory.count, let bytes
        else { return false }
        return SHA256(bytes + 1, P256.length, hash.baseAddress?.assumingMemoryBound(to: UInt8.self)) != nil
      }
      guard isHashed else { throw .libraryFailed }
      return P256.length
    }
  }

  private func checkIsFinite() throws(KeyExchangeError) {
    guard EC_POINT_is_at_infinity(P256.group, point) == 0 else { throw .atInfinity }
  }
}

enum SHA256Hash {
  static func hash(_ bytes: [UInt8]) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: P256.length) { buffer, count in
      SHA256(bytes, bytes.count, buffer.baseAddress)
      count = P256.length
    }
  }
}
