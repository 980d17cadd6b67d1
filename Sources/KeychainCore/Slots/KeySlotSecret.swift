// SPDX-License-Identifier: Apache-2.0

import SodiumCrypto

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// What opens a key slot.
package enum KeySlotSecret: Sendable {
  /// A file with 32 random bytes: one line of 64 hexadecimal digits, mode 0400. `Keychain.create`
  /// and `addKeySlot` make it when there is none.
  case keyFile(path: String)
  case passphrase(SecretBytes)
  /// What systemd hands to this service under that name; in the form of a key file.
  case systemdCredential(name: String)
  case recoveryCode(RecoveryCode)

  /// The passphrase in the first line of a file that nobody else can read.
  package static func passphrase(inFile path: String) throws(KeychainError) -> KeySlotSecret {
    .passphrase(try PassphraseFile.read(path))
  }

  /// Whether there is a key file at `path`.
  ///
  /// - Throws: why it cannot be read, when something is there.
  package static func isKeyFile(at path: String) throws(KeychainError) -> Bool {
    guard try StoreLocation.checkFile(path, remedy: "chmod 400") else { return false }
    _ = try KeyFile.read(path)
    return true
  }

  var kind: KeySlot.Kind {
    switch self {
    case .keyFile: .keyFile
    case .passphrase: .passphrase
    case .systemdCredential: .systemdCredential
    case .recoveryCode: .recoveryCode
    }
  }

  /// The bytes that open the slot.
  func bytes() throws -> SecretBytes {
    switch self {
    case .keyFile(let path): try KeyFile.read(path)
    case .passphrase(let passphrase): passphrase
    case .systemdCredential(let name): try SystemdCredential.read(name)
    case .recoveryCode(let code): try code.secret()
    }
  }

  /// For an answer that it does not open the store.
  var words: String {
    switch self {
    case .keyFile(let path): "the key file \(path)"
    case .passphrase: "this passphrase"
    case .systemdCredential(let name): "the credential \(name)"
    case .recoveryCode: "this recovery code"
    }
  }

  /// Why that may be so.
  var suspicion: String {
    switch self {
    case .passphrase: "it is mistyped, or its slot was removed or altered"
    case .keyFile, .systemdCredential, .recoveryCode:
      "it belongs to another store, or the slot was removed or altered"
    }
  }
}

/// A key that systemd hands to a service (systemd.exec(5), `LoadCredentialEncrypted=`): a file in
/// `$CREDENTIALS_DIRECTORY`, in the form of a key file.
package enum SystemdCredential {
  /// The file of a credential. Nil outside of a service, and for a name with a slash in it.
  package static func path(_ name: String) -> String? {
    guard let directory = getenv("CREDENTIALS_DIRECTORY").map({ String(cString: $0) }),
      directory.hasPrefix("/"), !name.isEmpty, !name.contains("/"), name != ".", name != ".."
    else { return nil }
    return "\(directory)/\(name)"
  }

  static func read(_ name: String) throws(KeychainError) -> SecretBytes {
    guard let path = path(name) else {
      throw KeychainError(
        .authFailed,
        "there is no credential \(name) without $CREDENTIALS_DIRECTORY, which systemd sets for a"
          + " service with LoadCredential= or LoadCredentialEncrypted=")
    }
    var status = stat()
    guard lstat(path, &status) == 0 else {
      throw KeychainError(
        .authFailed, "systemd hands no credential \(name) to this service: there is no \(path)")
    }
    // systemd gives root's file to the service's user by an access control list, which shows as the
    // group's rights; others have none.
    guard status.st_mode & S_IFMT == S_IFREG, status.st_mode & 0o007 == 0,
      status.st_uid == geteuid() || status.st_uid == 0
    else {
      throw KeychainError(.notAvailable, "\(path) is not as systemd makes it: others can reach it")
    }
    return try KeyFile.bytes(path, what: "the credential \(name)")
  }
}
