// SPDX-License-Identifier: Apache-2.0

extension FixedWidthInteger {
  /// The number whose octets these are, the highest first. Octets missing in front are zero.
  @inlinable
  init(bigEndianOctets octets: some Sequence<UInt8>) {
    self = 0
    for octet in octets {
      self = self << 8 | Self(truncatingIfNeeded: octet)
    }
  }

  /// The octets of the number, the highest first.
  var bigEndianOctets: [UInt8] {
    withUnsafeBytes(of: bigEndian) { Array($0) }
  }
}
