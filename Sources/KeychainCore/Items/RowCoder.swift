import SodiumCrypto

/// Takes the bytes of rows, sealed parts and backups: numbers big-endian, names as sixteen bytes.
protocol ByteSink {
  mutating func write(_ bytes: UnsafeRawBufferPointer)
  mutating func write(_ number: some FixedWidthInteger)
}

extension ByteSink {
  mutating func write(_ number: some FixedWidthInteger) { withUnsafeBytes(of: number.bigEndian) { write($0) } }

  mutating func write(_ name: some SixteenBytes) {
    write(name.high)
    write(name.low)
  }

  /// LEB128: the low seven bits first.
  mutating func writeShort(_ number: UInt64) {
    var rest = number
    while rest >= 0x80 {
      write(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    write(UInt8(rest))
  }
}

extension [UInt8]: ByteSink {
  mutating func write(_ bytes: UnsafeRawBufferPointer) { append(contentsOf: bytes) }

  mutating func write<N: FixedWidthInteger>(_ number: N) {
    for shift in stride(from: N.bitWidth - 8, through: 0, by: -8) { append(UInt8(truncatingIfNeeded: number >> shift)) }
  }
}

/// Into memory that has room for it, for what is written too often for an array.
struct RowWriter: ByteSink {
  private let memory: UnsafeMutableRawBufferPointer
  private(set) var count = 0

  init(_ memory: UnsafeMutableRawBufferPointer) { self.memory = memory }

  mutating func write(_ bytes: UnsafeRawBufferPointer) {
    UnsafeMutableRawBufferPointer(rebasing: memory[count...]).copyMemory(from: bytes)
    count += bytes.count
  }

  mutating func write<N: FixedWidthInteger>(_ number: N) {
    memory.storeBytes(of: number.bigEndian, toByteOffset: count, as: N.self)
    count += MemoryLayout<N>.size
  }
}

/// Reads what a `ByteSink` was given. What ends too early is `badPadding`.
struct RowReader {
  private(set) var rest: UnsafeRawBufferPointer

  init(_ bytes: UnsafeRawBufferPointer) { rest = bytes }

  mutating func take(_ count: some BinaryInteger) throws -> UnsafeRawBufferPointer {
    guard count <= rest.count else { throw SodiumError.badPadding }
    defer { rest = UnsafeRawBufferPointer(rebasing: rest[Int(count)...]) }
    return UnsafeRawBufferPointer(rebasing: rest[..<Int(count)])
  }

  mutating func number<N: FixedWidthInteger>() throws -> N {
    N(bigEndian: try take(MemoryLayout<N>.size).loadUnaligned(as: N.self))
  }

  mutating func name<N: SixteenBytes>() throws -> N { N(high: try number(), low: try number()) }

  mutating func short() throws -> UInt64 {
    var result: UInt64 = 0
    for shift in stride(from: 0, to: 64, by: 7) {
      let next: UInt8 = try number()
      result |= UInt64(next & 0x7F) << UInt64(shift)
      if next < 0x80 { return result }
    }
    throw SodiumError.badPadding
  }
}

/// Sixteen bytes that name something, kept as two words in big-endian order.
package protocol SixteenBytes: Hashable, Sendable, CustomStringConvertible {
  var high: UInt64 { get }
  var low: UInt64 { get }
  init(high: UInt64, low: UInt64)
}

extension SixteenBytes {
  /// Nil when there are not sixteen bytes.
  package init?(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count == 16 else { return nil }
    self.init(
      high: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
      low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
  }

  package init?(_ bytes: [UInt8]) {
    guard let value = bytes.withUnsafeBytes({ Self($0) }) else { return nil }
    self = value
  }

  static var zero: Self { Self(high: 0, low: 0) }

  package static func random() -> Self {
    withScratchMemory(16) { memory in
      RandomBytes.fill(memory)
      return Self(high: memory.load(as: UInt64.self), low: memory.load(fromByteOffset: 8, as: UInt64.self))
    }
  }

  package var bytes: [UInt8] { withBytes { Array($0) } }

  func withBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
    try withUnsafeBytes(of: (high.bigEndian, low.bigEndian), body)
  }

  /// 32 lower-case hexadecimal digits.
  package var description: String { bytes.hexadecimal }
}

/// Names a store for ever: in its anchor, in its client ids, in all that it seals.
package struct StoreID: SixteenBytes {
  package let high: UInt64
  package let low: UInt64

  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }
}

/// Names an item (or a key slot) for ever.
package struct ItemID: SixteenBytes {
  package let high: UInt64
  package let low: UInt64

  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }
}

extension [UInt8] {
  /// Lower-case, two digits a byte.
  var hexadecimal: String {
    String(decoding: flatMap { [$0.hexadecimalDigits.high, $0.hexadecimalDigits.low] }, as: UTF8.self)
  }
}

extension UInt8 {
  /// Lower-case.
  var hexadecimalDigits: (high: UInt8, low: UInt8) { (Self.digit(self >> 4), Self.digit(self & 15)) }

  private static func digit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
  }

  /// The value of one hexadecimal digit, or nil.
  var hexadecimalDigit: UInt8? {
    switch self {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
