// SPDX-License-Identifier: Apache-2.0

import SodiumCrypto

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

// The method below has the name of the function.
private let systemRead = read(_:_:_:)

/// A file whose first line is a passphrase.
enum PassphraseFile {
  /// The most bytes of the line, with its end.
  private static let limit = 4096

  static func read(_ path: String) throws(KeychainError) -> SecretBytes {
    // Not to wait for somebody at the other end of a pipe.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else {
      switch errno {
      case ENOENT: throw KeychainError(.authFailed, "there is no passphrase file at \(path)")
      case ELOOP: throw KeychainError(.notAvailable, "\(path) is a link, and no ordinary file")
      default: throw .system("open the passphrase file", path: path)
      }
    }
    defer { close(descriptor) }
    // What is open, and not what has that name now.
    try StoreLocation.checkFile(open: descriptor, path: path, remedy: "chmod 600")
    var failure: KeychainError?
    let passphrase = withScratchMemory(limit) { memory in
      let count = systemRead(descriptor, memory.baseAddress, memory.count)
      guard count >= 0 else {
        failure = .system("read the passphrase file", path: path)
        return SecretBytes(copying: UnsafeRawBufferPointer(rebasing: memory[..<0]))
      }
      let bytes = UnsafeRawBufferPointer(rebasing: memory[..<count])
      let line = bytes.prefix { $0 != 0x0A && $0 != 0x0D }
      if line.count == memory.count {
        failure = KeychainError(
          .authFailed, "the first line of \(path) is longer than \(limit - 1) bytes")
      }
      return SecretBytes(copying: line)
    }
    if let failure { throw failure }
    guard passphrase.count > 0 else {
      throw KeychainError(.authFailed, "the first line of \(path) is empty: put a passphrase there")
    }
    return passphrase
  }
}

/// The `parameters` of a passphrase slot: algorithm 1 | passes 4 | memory 8 | salt 16.
struct PassphraseParameters {
  private static let argon2id13: UInt8 = 1

  let cost: Argon2id.Parameters
  let salt: [UInt8]

  init(_ cost: Argon2id.Parameters) {
    self.cost = cost
    salt = RandomBytes.make(Argon2id.saltLength)
  }

  init(decoding bytes: [UInt8]) throws {
    guard bytes.count == 13 + Argon2id.saltLength, bytes[0] == Self.argon2id13 else {
      throw SodiumError.refusedParameters("a passphrase slot has parameters that are not known")
    }
    let (operations, memory) = bytes.withUnsafeBytes {
      (
        UInt32(bigEndian: $0.loadUnaligned(fromByteOffset: 1, as: UInt32.self)),
        UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 5, as: UInt64.self))
      )
    }
    cost = Argon2id.Parameters(operations: Int(operations), memory: Int(clamping: memory))
    salt = Array(bytes[13...])
  }

  var encoded: [UInt8] {
    var bytes = [Self.argon2id13]
    withUnsafeBytes(of: UInt32(clamping: cost.operations).bigEndian) {
      bytes.append(contentsOf: $0)
    }
    withUnsafeBytes(of: UInt64(clamping: cost.memory).bigEndian) { bytes.append(contentsOf: $0) }
    return bytes + salt
  }
}
