// SPDX-License-Identifier: Apache-2.0

/// What a key of two halves is for, where its attributes do not say: the public half encrypts,
/// verifies and wraps, the private one undoes the first and the last, and signs. Both derive.
enum KeyUses {
  private static let ofPublicKeys: Set<ItemAttribute> = [
    .canEncrypt, .canVerify, .canWrap, .canDerive,
  ]
  private static let ofPrivateKeys: Set<ItemAttribute> = [
    .canDecrypt, .canSign, .canUnwrap, .canDerive,
  ]

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
