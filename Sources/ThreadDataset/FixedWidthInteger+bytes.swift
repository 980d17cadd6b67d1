// SPDX-License-Identifier: Apache-2.0

extension FixedWidthInteger {
  /// The number whose bytes these are, the highest first. Bytes missing in front are zero.
  @inlinable
  init(bigEndianBytes bytes: some Sequence<UInt8>) {
    self = 0
    for byte in bytes {
      self = self << 8 | Self(truncatingIfNeeded: byte)
    }
  }

  /// The bytes of the number, the highest first.
  var bigEndianBytes: [UInt8] {
    withUnsafeBytes(of: bigEndian) { Array($0) }
  }
}
