// SPDX-License-Identifier: Apache-2.0

extension UnsafeRawBufferPointer {
  /// As libsodium wants it: nil when there is nothing.
  var pointer: UnsafePointer<UInt8>? { baseAddress?.assumingMemoryBound(to: UInt8.self) }

  /// As libsodium wants it where nothing is not allowed.
  func requiredPointer() throws(SodiumError) -> UnsafePointer<UInt8> {
    guard let pointer else { throw .wrongLength(expected: 1, found: 0) }
    return pointer
  }
}

extension UnsafeMutableRawBufferPointer {
  var pointer: UnsafeMutablePointer<UInt8>? { baseAddress?.assumingMemoryBound(to: UInt8.self) }

  func requiredPointer() throws(SodiumError) -> UnsafeMutablePointer<UInt8> {
    guard let pointer else { throw .wrongLength(expected: 1, found: 0) }
    return pointer
  }
}
