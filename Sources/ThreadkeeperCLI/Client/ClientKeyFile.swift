// SPDX-License-Identifier: Apache-2.0

import Broker
import Glibc
import SodiumCrypto
import ThreadkeeperDaemon
import ThreadkeeperSupport

/// The key file of a client: a line of words for people, and one that holds both secrets.
///
/// ```
/// # …
/// threadkeeper-client-key-1 <base64url of X25519 secret key | Ed25519 seed, 86 characters>
/// ```
struct ClientKeyFile: Sendable {
  private static let word = "threadkeeper-client-key-1"
  /// Bytes; the file has some two hundred.
  private static let limit = 4_096

  let path: String

  /// - Throws: `CommandFailure` with status 73; a file that is there is never replaced.
  func create(_ identity: Identity) throws(CommandFailure) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else {
      guard errno != EEXIST else {
        throw CommandFailure(
          .cannotCreate, "there is a file at \(path) already",
          remedy: "a key that is in use should not be replaced; --out names another file")
      }
      throw CommandFailure(.cannotCreate, "can't make \(path): \(String(cString: strerror(errno)))")
    }
    defer { close(descriptor) }
    var bytes = identity.secrets.withUnsafeBytes { Array($0) }
    defer { wipe(&bytes) }
    let text = """
      # The keys of a client of threadkeeper. Who has them speaks for it, and reads what it is sent.
      \(Self.word) \(Base64.encode(bytes, .urlSafe))

      """
    do throws(CommandFailure) {
      // Whatever the umask is.
      guard fchmod(descriptor, 0o600) == 0 else {
        throw CommandFailure(.inputOutput, "can't protect \(path)")
      }
      try StandardStream.write(text, to: descriptor)
      guard fsync(descriptor) == 0 else {
        throw CommandFailure(.inputOutput, "can't write \(path)")
      }
    } catch {
      unlink(path)
      throw error
    }
  }

  /// - Throws: `CommandFailure`, with status 77 when others can read the file or it is another's.
  func read() throws(CommandFailure) -> Identity {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    var status = stat()
    guard descriptor >= 0 else {
      let code = errno
      guard code == EACCES else {
        throw CommandFailure(
          .noInput, "can't read \(path): \(String(cString: strerror(code)))",
          remedy: "`threadkeeper client keygen` makes a key file")
      }
      guard stat(path, &status) == 0 else {
        throw CommandFailure(
          .noInput,
          "can't read \(path): this user may not enter \(FilePath.directory(of: path))",
          remedy: "run this as the file's owner: `sudo -u USER threadkeeper …`")
      }
      let owner = Self.name(of: status.st_uid)
      throw CommandFailure(
        .noInput, "\(path) belongs to \(owner), and this user may not read it",
        remedy: "run this as that user: `sudo -u \(owner) threadkeeper …`")
    }
    defer { close(descriptor) }
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw CommandFailure(.noInput, "\(path) is no file")
    }
    guard status.st_uid == geteuid() || status.st_uid == 0 else {
      throw CommandFailure(
        .notPermitted,
        "\(path) belongs to \(Self.name(of: status.st_uid)), who knows what is in it",
        remedy: "run this as that user, or `chown` it")
    }
    guard status.st_mode & 0o077 == 0 else {
      throw CommandFailure(
        .notPermitted, "other users of this machine can read \(path)",
        remedy: "chmod 600 \(path); if somebody may have read it, make a new one")
    }
    var bytes = [UInt8](repeating: 0, count: Self.limit)
    defer { wipe(&bytes) }
    let count = bytes.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
    guard let identity = Self.identity(bytes.prefix(max(count, 0))) else {
      throw CommandFailure(.badInput, "\(path) is no key file of a client")
    }
    return identity
  }

  private static func name(of user: uid_t) -> String {
    getpwuid(user).map { String(cString: $0.pointee.pw_name) } ?? "user \(user)"
  }

  private static func identity(_ bytes: ArraySlice<UInt8>) -> Identity? {
    let lines = bytes.split(separator: UInt8(ascii: "\n")).filter { $0.first != UInt8(ascii: "#") }
    guard lines.count == 1, let line = lines.first else { return nil }
    let words = line.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\r") }
    guard words.count == 2, words[0].elementsEqual(word.utf8),
      var secrets = Base64.decode(String(decoding: words[1], as: UTF8.self), .urlSafe)
    else { return nil }
    defer { wipe(&secrets) }
    return try? Identity(secrets: SecretBytes(copying: secrets))
  }
}
