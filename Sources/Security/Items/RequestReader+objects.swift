// SPDX-License-Identifier: Apache-2.0

extension RequestReader {
  /// What an object stands for: of one that came out of the keychain its item, of a certificate
  /// made of data its attributes.
  static func readObject(
    _ value: Any, into request: inout ItemRequest
  ) throws(KeychainError) {
    let itemClass: RequestClass
    switch value {
    case let certificate as SecCertificate:
      itemClass = .stored(.certificate)
      request.attributes = certificate.fields.primaryKey
      request.defaults = certificate.fields.derived
      request.secret = ItemSecret(copying: certificate.octets)
    case let key as SecKey:
      itemClass = .stored(.key)
      request.attributes = key.primaryKey
      request.defaults = key.attributes
      request.secret = key.material
    case let identity as SecIdentity:
      itemClass = .identity
      request.reference = identity.persistentReference
    default:
      throw ValueReader.unfit(kSecValueRef)
    }
    guard request.itemClass == nil || request.itemClass == itemClass else {
      throw KeychainError(.param, "the object and the class contradict each other")
    }
    request.itemClass = itemClass
  }

  /// A certificate that is given as data says its attributes itself.
  mutating func readCertificate() {
    guard request.itemClass == .stored(.certificate), request.defaults.isEmpty,
      let octets = request.secret?.withUnsafeBytes({ Array($0) }),
      let fields = CertificateFields(octets)
    else { return }
    request.defaults = fields.derived.merging(fields.primaryKey) { $1 }
  }
}
