// SPDX-License-Identifier: Apache-2.0

import SodiumCrypto

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

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
