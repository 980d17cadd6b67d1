// SPDX-License-Identifier: Apache-2.0

import SodiumCrypto

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A file whose first line is a passphrase.
enum PassphraseFile {
  private static let limit = 4096

  static func read(_ path: String) throws(KeychainError) -> SecretBytes {
    guard try StoreLocation.checkFile(path) else {
      throw KeychainError(.authFailed, "there is no passphrase file at \(path)")
    }
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { throw .system("open the passphrase file", path: path) }
    defer { close(descriptor) }
    let passphrase = withScratchMemory(limit) { memory in
      let count = Glibc.read(descriptor, memory.baseAddress, memory.count)
      let octets = UnsafeRawBufferPointer(rebasing: memory.prefix(max(count, 0)))
      return SecretBytes(copying: octets.prefix { $0 != 0x0A && $0 != 0x0D })
    }
    guard passphrase.count > 0 else {
      throw KeychainError(.authFailed, "the first line of \(path) is empty: put a passphrase there")
    }
    return passphrase
  }
}
