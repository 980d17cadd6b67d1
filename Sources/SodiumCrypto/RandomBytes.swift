// SPDX-License-Identifier: Apache-2.0

import CLibSodium

/// The system's random source. Each call is a system call, so ask once for all that is needed.
package enum RandomBytes {
  package static func fill(_ buffer: UnsafeMutableRawBufferPointer) {
    if let base = buffer.baseAddress { randombytes_buf(base, buffer.count) }
  }

  package static func make(_ count: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      fill(UnsafeMutableRawBufferPointer(buffer))
      initialized = count
    }
  }
}
