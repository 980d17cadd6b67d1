import Foundation

/// A cryptographic key: its material and its attributes. It can be stored and found; signing and
/// encrypting are other libraries' business.
public final class SecKey: Hashable, Sendable {
  /// In a type of its own, so that programs need not know what is in it.
  private let contents: KeyContents

  init(attributes: ItemAttributes, material: ItemSecret) {
    contents = KeyContents(attributes: attributes, material: material, reference: nil)
  }

  /// Nil when the material was not read.
  init?(_ found: FoundItem) {
    let item = found.secretHolder
    guard let material = found.secret else { return nil }
    contents = KeyContents(attributes: item.attributes, material: material, reference: item.reference)
  }

  var attributes: ItemAttributes { contents.attributes }
  var material: ItemSecret { contents.material }

  /// Whether both have the same material and the same primary key.
  public static func == (left: SecKey, right: SecKey) -> Bool {
    left.contents.primaryKey == right.contents.primaryKey && left.material == right.material
  }

  /// Feeds its application label to a hasher.
  public func hash(into hasher: inout Hasher) { hasher.combine(attributes[.applicationLabel]?.data) }
}

final class KeyContents: Sendable {
  let attributes: ItemAttributes
  let material: ItemSecret
  let reference: ItemReference?

  init(attributes: ItemAttributes, material: ItemSecret, reference: ItemReference?) {
    self.attributes = attributes
    self.material = material
    self.reference = reference
  }

  private static let primaryKeyNames = Set(ItemClass.key.primaryKey).subtracting([.accessGroup, .synchronizable])

  /// What tells a key from others, wherever it is stored.
  var primaryKey: ItemAttributes { attributes.filter { Self.primaryKeyNames.contains($0.key) } }

  /// The same with what is missing, as the empty value that it counts as.
  var wholePrimaryKey: ItemAttributes {
    primaryKey.merging(Self.primaryKeyNames.map { ($0, .data([])) }) { given, _ in given }
  }
}

extension SecKey: KeychainObject {
  var persistentReference: ItemReference? { contents.reference }
  var primaryKey: ItemAttributes { contents.primaryKey }
  var wholePrimaryKey: ItemAttributes { contents.wholePrimaryKey }
}

/// Makes a key of its material.
///
/// - Parameters:
///   - keyData: the material, in the form that the type of the key has (PKCS #1, X9.63).
///   - attributes: `kSecAttrKeyType`, `kSecAttrKeyClass` and others of keys. Of RSA and elliptic
///     curves, the application label and the size follow from the material if they are not given; what
///     a public or private key is for follows from that.
///   - error: gets the reason when there is no result.
public func SecKeyCreateWithData(
  _ keyData: CFData, _ attributes: CFDictionary, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecKey? {
  do throws(KeychainError) {
    var all = attributes
    all[kSecClass] = kSecClassKey
    let request = try RequestReader.request(all, for: .add)
    let usual = KeyUses.usual(ofClass: request.attributes[.keyClass]?.string)
    var found = usual.merging(request.attributes) { $1 }
    if let material = KeyMaterial(Array(keyData), found) {
      // By its application label a private key is found for a certificate.
      if found[.applicationLabel] == nil { found[.applicationLabel] = .data(material.publicKeyHash) }
      if found[.keySize] == nil { found[.keySize] = .integer(material.bits) }
    }
    return SecKey(attributes: found, material: ItemSecret(copying: keyData))
  } catch let failure {
    error?.pointee = Unmanaged.passRetained(failure.foundationError)
    return nil
  }
}

/// The material of a key.
///
/// - Parameters:
///   - key: a key.
///   - error: gets the reason when there is no result; there always is one here.
public func SecKeyCopyExternalRepresentation(_ key: SecKey, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?)
  -> CFData?
{ key.material.data }

/// The attributes of a key.
public func SecKeyCopyAttributes(_ key: SecKey) -> CFDictionary? { ResultWriter.dictionary(of: key.attributes) }

/// What the material of a key says about it: PKCS #1 (RFC 8017, appendix A.1) of RSA, X9.63 of elliptic
/// curves. An elliptic curve's public key is `04 | x | y`, and a private one the same and the secret.
struct KeyMaterial {
  /// The SHA-1 of the public key, as a certificate's `pkhh` is.
  let publicKeyHash: [UInt8]
  let bits: Int64

  /// Nil for other types, and for what is none of its type.
  init?(_ bytes: [UInt8], _ attributes: ItemAttributes) {
    let isPrivate = attributes[.keyClass]?.string == kSecAttrKeyClassPrivate
    guard isPrivate || attributes[.keyClass]?.string == kSecAttrKeyClassPublic else { return nil }
    switch attributes[.keyType]?.string {
    case kSecAttrKeyTypeRSA: self.init(rsa: bytes, isPrivate: isPrivate)
    case kSecAttrKeyTypeECSECPrimeRandom: self.init(curve: bytes, isPrivate: isPrivate)
    default: return nil
    }
  }

  /// `{ modulus, exponent }`, or `{ version, modulus, exponent, … }`.
  private init?(rsa bytes: [UInt8], isPrivate: Bool) {
    guard let outer = DERElement(first: bytes[...]), outer.tag == DERElement.sequence, outer.whole.count == bytes.count,
      let parts = outer.children, parts.count >= (isPrivate ? 9 : 2), parts.allSatisfy({ $0.tag == DERElement.integer })
    else { return nil }
    let (modulus, exponent) = isPrivate ? (parts[1], parts[2]) : (parts[0], parts[1])
    let digits = modulus.contents.drop { $0 == 0 }
    guard let first = digits.first else { return nil }
    bits = Int64(digits.count * 8 - first.leadingZeroBitCount)
    publicKeyHash = SHA1.hash(DERElement.sequence(of: modulus.whole + exponent.whole))
  }

  private init?(curve bytes: [UInt8], isPrivate: Bool) {
    let parts = isPrivate ? 3 : 2
    let length = (bytes.count - 1) / parts
    // P-256, P-384 and P-521.
    guard bytes.first == 4, [32, 48, 66].contains(length), bytes.count == 1 + parts * length else { return nil }
    bits = length == 66 ? 521 : Int64(length) * 8
    publicKeyHash = SHA1.hash(bytes[..<(1 + 2 * length)])
  }
}

/// What a key of two halves is for, where its attributes do not say: the public half encrypts,
/// verifies and wraps, the private one undoes the first and the last, and signs. Both derive.
enum KeyUses {
  private static let ofPublicKeys: Set<ItemAttribute> = [.canEncrypt, .canVerify, .canWrap, .canDerive]
  private static let ofPrivateKeys: Set<ItemAttribute> = [.canDecrypt, .canSign, .canUnwrap, .canDerive]

  /// Every use, allowed or not; none of a key that is neither public nor private.
  static func usual(ofClass keyClass: String?) -> ItemAttributes {
    let allowed: Set<ItemAttribute>
    switch keyClass {
    case kSecAttrKeyClassPublic: allowed = ofPublicKeys
    case kSecAttrKeyClassPrivate: allowed = ofPrivateKeys
    default: return [:]
    }
    var uses: ItemAttributes = [:]
    for use in ofPublicKeys.union(ofPrivateKeys) { uses[use] = .bool(allowed.contains(use)) }
    return uses
  }
}

/// Stands for a source of random bytes. There is one: give `kSecRandomDefault`.
public final class SecRandomRef: Sendable { init() {} }

/// The system's random source.
public let kSecRandomDefault: SecRandomRef? = nil

/// Fills memory with random bytes of the system.
///
/// - Parameters:
///   - rnd: `kSecRandomDefault`.
///   - count: bytes, not negative.
///   - bytes: memory for as many.
/// - Returns: `errSecSuccess`; `errSecParam` for a negative count.
@discardableResult public func SecRandomCopyBytes(_ rnd: SecRandomRef?, _ count: Int, _ bytes: UnsafeMutableRawPointer)
  -> Int32
{
  guard count >= 0 else { return errSecParam }
  SystemRandom.fill(UnsafeMutableRawBufferPointer(start: bytes, count: count))
  return errSecSuccess
}
