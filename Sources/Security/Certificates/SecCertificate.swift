import Foundation

/// An X.509 certificate.
public final class SecCertificate: Hashable, Sendable {
  /// The DER.
  let bytes: [UInt8]
  let fields: CertificateFields
  private let reference: [UInt8]?

  init?(_ bytes: [UInt8], reference: [UInt8]? = nil) {
    guard let fields = CertificateFields(bytes) else { return nil }
    self.bytes = bytes
    self.fields = fields
    self.reference = reference
  }

  /// Nil when what was stored as a certificate is none.
  convenience init?(_ found: FoundItem) {
    guard let secret = found.itemClass == .identity ? found.certificate : found.secret else { return nil }
    let reference = found.item.reference
    self.init(secret.withUnsafeBytes { Array($0) }, reference: reference.bytes)
  }

  /// Whether both are the same bytes.
  public static func == (left: SecCertificate, right: SecCertificate) -> Bool { left.bytes == right.bytes }

  /// Feeds its bytes to a hasher.
  public func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
}

extension SecCertificate: KeychainObject {
  var persistentReference: ItemReference? { reference.flatMap { try? ItemReference(decoding: $0) } }
}

/// Makes a certificate of its DER; nil when it is none.
///
/// - Parameters:
///   - allocator: nil.
///   - data: the whole certificate, nothing before or after it.
public func SecCertificateCreateWithData(_ allocator: CFAllocator?, _ data: CFData) -> SecCertificate? {
  SecCertificate(Array(data))
}

/// The DER of a certificate.
public func SecCertificateCopyData(_ certificate: SecCertificate) -> CFData { Data(certificate.bytes) }

/// What a person would call the certificate: the common name of its subject, or another part of it.
public func SecCertificateCopySubjectSummary(_ certificate: SecCertificate) -> CFString? { certificate.fields.summary }

/// An object that may have come out of the keychain.
protocol KeychainObject: AnyObject {
  /// Nil when it was made of data.
  var persistentReference: ItemReference? { get }
}

/// A certificate and its private key.
public final class SecIdentity: Hashable, Sendable {
  let certificate: SecCertificate
  let privateKey: SecKey
  private let reference: [UInt8]

  /// Nil when one of both was not read.
  init?(_ found: FoundItem) {
    guard let certificate = SecCertificate(found), let privateKey = SecKey(found) else { return nil }
    self.certificate = certificate
    self.privateKey = privateKey
    reference = found.reference.bytes
  }

  /// Whether both are the same certificate and key.
  public static func == (left: SecIdentity, right: SecIdentity) -> Bool {
    left.certificate == right.certificate && left.privateKey == right.privateKey
  }

  /// Feeds the certificate to a hasher.
  public func hash(into hasher: inout Hasher) { hasher.combine(certificate) }
}

extension SecIdentity: KeychainObject {
  var persistentReference: ItemReference? { try? ItemReference(decoding: reference) }
}

/// Gives the certificate of an identity.
///
/// - Returns: `errSecSuccess`.
@discardableResult public func SecIdentityCopyCertificate(
  _ identityRef: SecIdentity, _ certificateRef: UnsafeMutablePointer<SecCertificate?>
) -> OSStatus {
  certificateRef.pointee = identityRef.certificate
  return errSecSuccess
}

/// Gives the private key of an identity.
///
/// - Returns: `errSecSuccess`.
@discardableResult public func SecIdentityCopyPrivateKey(
  _ identityRef: SecIdentity, _ privateKeyRef: UnsafeMutablePointer<SecKey?>
) -> OSStatus {
  privateKeyRef.pointee = identityRef.privateKey
  return errSecSuccess
}
