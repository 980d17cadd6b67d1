// SPDX-License-Identifier: Apache-2.0

import CLibSodium

/// Padding that hides a length (ISO/IEC 7816-4: one 0x80, then zeros).
package enum Padding {
  /// The length of `count` bytes padded to a multiple of `block`: always at least one more.
  package static func paddedCount(_ count: Int, block: Int) -> Int { (count / block + 1) * block }

  /// Pads the first `count` bytes of `buffer`, which must be as long as `paddedCount` says.
  package static func pad(_ buffer: UnsafeMutableRawBufferPointer, count: Int) {
    buffer[count] = 0x80
    for index in (count + 1)..<max(buffer.count, count + 1) { buffer[index] = 0 }
  }

  /// The number of bytes before the padding, found in constant time.
  package static func unpaddedCount(
    _ buffer: UnsafeRawBufferPointer, block: Int
  ) throws(SodiumError) -> Int {
    var count = 0
    guard try sodium_unpad(&count, buffer.requiredPointer(), buffer.count, block) == 0 else {
      throw .badPadding
    }
    return count
  }
}
