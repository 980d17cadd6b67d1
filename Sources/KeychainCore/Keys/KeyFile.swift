import Glibc
import SodiumCrypto
import ThreadkeeperSupport

/// A key file: 32 random bytes as one line of 64 lower-case hexadecimal digits, so that it can be
/// printed and typed in again. 32 raw bytes are read too.
enum KeyFile {
  static let length = 32

  /// Makes the file, of random bytes unless they are given; false when there is one already.
  static func createIfAbsent(_ path: String, of key: GuardedKey? = nil) throws(KeychainError) -> Bool {
    try StoreLocation.makeDirectory(StoreLocation.parent(of: path))
    if StoreLocation.isThere(path) { return false }
    // Under another name until it is whole: a kill leaves nothing that looks like a key file.
    let draft = path + ".new"
    unlink(draft)
    let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o400)
    guard descriptor >= 0 else { throw .system("make the key file", path: draft) }
    defer {
      close(descriptor)
      unlink(draft)
    }
    let isWritten = withScratchMemory(length * 3 + 1) { memory in
      let raw = UnsafeMutableRawBufferPointer(rebasing: memory[..<length])
      let text = UnsafeMutableRawBufferPointer(rebasing: memory[length...])
      if let key {
        key.withUnsafeBytes { raw.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0.prefix(length))) }
      } else {
        RandomBytes.fill(raw)
      }
      for (position, byte) in raw.enumerated() { (text[position * 2], text[position * 2 + 1]) = byte.hexadecimalDigits }
      text[length * 2] = UInt8(ascii: "\n")
      return write(descriptor, text.baseAddress, text.count) == text.count && fsync(descriptor) == 0
    }
    guard isWritten else { throw .system("write the key file", path: draft) }
    // Unlike a renaming, a link replaces nothing.
    guard link(draft, path) == 0 else {
      if errno == EEXIST { return false }
      throw .system("make the key file", path: path)
    }
    FilePath.syncDirectory(FilePath.directory(of: path))
    return true
  }

  static func read(_ path: String) throws(KeychainError) -> SecretBytes {
    guard try StoreLocation.checkFile(path, remedy: "chmod 400") else {
      throw KeychainError(.authFailed, "there is no key file at \(path): put it back from where it was kept")
    }
    return try bytes(path, what: "the key file")
  }

  /// - Parameter what: completes "open …".
  static func bytes(_ path: String, what: String) throws(KeychainError) -> SecretBytes {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { throw .system("open \(what)", path: path) }
    defer { close(descriptor) }
    let key = withScratchMemory(256) { memory -> SecretBytes? in
      let count = Glibc.read(descriptor, memory.baseAddress, memory.count)
      return decode(UnsafeRawBufferPointer(rebasing: memory.prefix(max(count, 0))))
    }
    guard let key else {
      throw KeychainError(.authFailed, "\(path) is no key file: it should be one line of 64 hexadecimal digits")
    }
    return key
  }

  private static func decode(_ bytes: UnsafeRawBufferPointer) -> SecretBytes? {
    if bytes.count == length { return SecretBytes(copying: bytes) }
    let isWhite: (UInt8) -> Bool = { $0 == 0x0A || $0 == 0x0D || $0 == 0x20 }
    var end = bytes.count
    while end > 0, isWhite(bytes[end - 1]) { end -= 1 }
    guard end == length * 2 else { return nil }
    return SecretBytes(capacity: length) { memory in
      for position in 0..<length {
        guard let high = bytes[position * 2].hexadecimalDigit, let low = bytes[position * 2 + 1].hexadecimalDigit else {
          return 0
        }
        memory[position] = high << 4 | low
      }
      return length
    }.whole(length)
  }
}

extension SecretBytes {
  /// Nil unless all bytes were filled.
  fileprivate func whole(_ length: Int) -> SecretBytes? { count == length ? self : nil }
}

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
    let passphrase = try KeychainError.wrap("reading a passphrase") {
      try withScratchMemory(limit) { memory in
        let count = Glibc.read(descriptor, memory.baseAddress, memory.count)
        guard count >= 0 else { throw KeychainError.system("read the passphrase file", path: path) }
        let line = memory[..<count].prefix { $0 != 0x0A && $0 != 0x0D }
        guard line.count < memory.count else {
          throw KeychainError(.authFailed, "the first line of \(path) is longer than \(limit - 1) bytes")
        }
        return SecretBytes(copying: line)
      }
    }
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
    let (operations, memory): (UInt32, UInt64) = try bytes.withUnsafeBytes {
      var reader = RowReader(UnsafeRawBufferPointer(rebasing: $0[1...]))
      return (try reader.number(), try reader.number())
    }
    cost = Argon2id.Parameters(operations: Int(operations), memory: Int(clamping: memory))
    salt = Array(bytes[13...])
  }

  var encoded: [UInt8] {
    var bytes = [Self.argon2id13]
    bytes.write(UInt32(clamping: cost.operations))
    bytes.write(UInt64(clamping: cost.memory))
    return bytes + salt
  }
}
