// SPDX-License-Identifier: Apache-2.0

import SodiumCrypto

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

  package static func random() -> Self {
    withScratchMemory(16) { memory in
      RandomBytes.fill(memory)
      return Self(
        high: memory.load(as: UInt64.self), low: memory.load(fromByteOffset: 8, as: UInt64.self))
    }
  }

  package var bytes: [UInt8] {
    [UInt8](unsafeUninitializedCapacity: 16) { buffer, count in
      write(to: UnsafeMutableRawBufferPointer(buffer), at: 0)
      count = 16
    }
  }

  func write(to memory: UnsafeMutableRawBufferPointer, at offset: Int) {
    memory.storeBytes(of: high.bigEndian, toByteOffset: offset, as: UInt64.self)
    memory.storeBytes(of: low.bigEndian, toByteOffset: offset + 8, as: UInt64.self)
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
    let digits = Array("0123456789abcdef".utf8)
    var text: [UInt8] = []
    text.reserveCapacity(count * 2)
    for byte in self {
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 15)])
    }
    return String(decoding: text, as: UTF8.self)
  }
}

extension UInt8 {
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
