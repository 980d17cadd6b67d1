// SPDX-License-Identifier: Apache-2.0

import SodiumCrypto

/// What is done with the device key: BLAKE2b under it, of the subkey of a root (32 bytes) to wrap class
/// keys of this device only, and of the words below (16 bytes) to name it.
enum DeviceKey {
  static let idLength = 16
  private static let name = Array("threadkeeper device key".utf8)

  /// Tells device keys apart, and nothing of what they are.
  static func id(of device: GuardedKey) throws -> [UInt8] {
    try [UInt8](unsafeUninitializedCapacity: idLength) { buffer, count in
      try name.withUnsafeBytes { name in
        try device.withUnsafeBytes { key in
          try BLAKE2b.hash(
            name, key: key,
            into: UnsafeMutableRawBufferPointer(start: buffer.baseAddress, count: idLength))
        }
      }
      count = idLength
    }
  }

  /// Lends the key that takes both, the root that `subkey` is of and the device key.
  static func withSubkey<R>(
    _ subkey: UnsafeRawBufferPointer, under device: GuardedKey,
    _ body: (UnsafeRawBufferPointer) throws -> R
  ) throws -> R {
    try withScratchMemory(KeyArena.keyLength) { both in
      try device.withUnsafeBytes { try BLAKE2b.hash(subkey, key: $0, into: both) }
      return try body(UnsafeRawBufferPointer(both))
    }
  }

  static func isAnother() -> KeychainError {
    KeychainError(
      .notAvailable,
      "these items for this device only were added with another device.key than the one beside the"
        + " store: put the right one back, or they belong to another machine")
  }
}

/// What lies where the device key belongs.
enum DeviceKeyFile {
  case key(GuardedKey)
  /// Nothing has that name.
  case missing
  /// Something has it, or that cannot be seen. It may well be the right one: nothing is deleted for that.
  case unusable(KeychainError)
}
