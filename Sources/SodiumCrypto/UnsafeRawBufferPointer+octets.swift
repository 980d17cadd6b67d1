// SPDX-License-Identifier: Apache-2.0

extension UnsafeRawBufferPointer {
  /// As libsodium wants it: nil when there is nothing.
  var octets: UnsafePointer<UInt8>? { baseAddress?.assumingMemoryBound(to: UInt8.self) }

  /// As libsodium wants it where nothing is not allowed.
  func someOctets() throws(SodiumError) -> UnsafePointer<UInt8> {
    guard let octets else { throw .wrongLength(expected: 1, found: 0) }
    return octets
  }
}

extension UnsafeMutableRawBufferPointer {
  var octets: UnsafeMutablePointer<UInt8>? { baseAddress?.assumingMemoryBound(to: UInt8.self) }

  func someOctets() throws(SodiumError) -> UnsafeMutablePointer<UInt8> {
    guard let octets else { throw .wrongLength(expected: 1, found: 0) }
    return octets
  }
}
