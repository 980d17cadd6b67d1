// SPDX-License-Identifier: Apache-2.0

extension RequestReader {
  /// What an object stands for: in a query, of one that came out of the keychain its item; of one
  /// that was made of data, what has the same primary key.
  static func readObject(
    _ value: Any, of call: Call, into request: inout ItemRequest
  ) throws(KeychainError) {
    let itemClass: RequestClass
    let object: any KeychainObject
    switch value {
    case let certificate as SecCertificate:
      (itemClass, object) = (.stored(.certificate), certificate)
      request.attributes = certificate.fields.primaryKey
      request.defaults = certificate.fields.derived
      request.secret = ItemSecret(copying: certificate.bytes)
    case let key as SecKey:
      (itemClass, object) = (.stored(.key), key)
      // What a new key does not say need not be stored; of a known one it says which key is meant.
      request.attributes = call == .add ? key.primaryKey : key.wholePrimaryKey
      request.defaults = key.attributes
      request.secret = key.material
    case let identity as SecIdentity:
      (itemClass, object) = (.identity, identity)
    default:
      throw ValueReader.unfit(kSecValueRef)
    }
    if call == .query || itemClass == .identity, let reference = object.persistentReference {
      // Nothing else: the item may have been changed since, and is still the one that is meant.
      request.attributes = [:]
      guard request.reference == nil || request.reference == reference else {
        throw KeychainError(.param, "the object and the persistent reference contradict each other")
      }
      request.reference = reference
    }
    guard request.itemClass == nil || request.itemClass == itemClass else {
      throw KeychainError(.param, "the object and the class contradict each other")
    }
    request.itemClass = itemClass
  }

  /// A certificate that is given as data says its attributes itself.
  mutating func readCertificate() {
    guard request.itemClass == .stored(.certificate), request.defaults.isEmpty,
      let bytes = request.secret?.withUnsafeBytes({ Array($0) }),
      let fields = CertificateFields(bytes)
    else { return }
    request.defaults = fields.derived.merging(fields.primaryKey) { $1 }
  }
}
