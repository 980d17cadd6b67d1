// SPDX-License-Identifier: Apache-2.0

import SodiumCrypto

/// Takes the bytes of rows, sealed parts and backups: numbers big-endian, names as sixteen bytes.
protocol ByteSink {
  mutating func write(_ bytes: UnsafeRawBufferPointer)
}

extension ByteSink {
  mutating func write(_ number: some FixedWidthInteger) {
    withUnsafeBytes(of: number.bigEndian) { write($0) }
  }

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
}

/// Reads what a `ByteSink` was given. What ends too early is `badPadding`.
struct RowReader {
  private(set) var rest: UnsafeRawBufferPointer

  init(_ bytes: UnsafeRawBufferPointer) { rest = bytes }

  mutating func take(_ count: some BinaryInteger) throws -> UnsafeRawBufferPointer {
    guard count <= rest.count else { throw SodiumError.badPadding }
    defer { rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(Int(count))) }
    return UnsafeRawBufferPointer(rebasing: rest.prefix(Int(count)))
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
