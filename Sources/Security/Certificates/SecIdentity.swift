// SPDX-License-Identifier: Apache-2.0

/// A certificate and its private key.
public final class SecIdentity: Hashable, Sendable {
  let certificate: SecCertificate
  let privateKey: SecKey
  private let reference: [UInt8]

  /// Nil when one of both was not read.
  init?(_ found: FoundItem) {
    guard let certificate = SecCertificate(found), let privateKey = SecKey(found) else {
      return nil
    }
    self.certificate = certificate
    self.privateKey = privateKey
    reference = found.persistentReference.bytes
  }

  /// Whether both are the same certificate and key.
  public static func == (left: SecIdentity, right: SecIdentity) -> Bool {
    left.certificate == right.certificate && left.privateKey == right.privateKey
  }

  /// Feeds the certificate to a hasher.
  public func hash(into hasher: inout Hasher) { hasher.combine(certificate) }
}

extension SecIdentity: KeychainObject {
  var persistentReference: PersistentReference? { try? PersistentReference(decoding: reference) }
}

/// Gives the certificate of an identity.
///
/// - Returns: `errSecSuccess`.
@discardableResult
public func SecIdentityCopyCertificate(
  _ identityRef: SecIdentity, _ certificateRef: UnsafeMutablePointer<SecCertificate?>
) -> OSStatus {
  certificateRef.pointee = identityRef.certificate
  return errSecSuccess
}

/// Gives the private key of an identity.
///
/// - Returns: `errSecSuccess`.
@discardableResult
public func SecIdentityCopyPrivateKey(
  _ identityRef: SecIdentity, _ privateKeyRef: UnsafeMutablePointer<SecKey?>
) -> OSStatus {
  privateKeyRef.pointee = identityRef.privateKey
  return errSecSuccess
}
