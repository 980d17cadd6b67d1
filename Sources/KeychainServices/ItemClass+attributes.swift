// SPDX-License-Identifier: Apache-2.0

import KeychainCore

extension ItemClass {
  /// What every item can have, whatever its class.
  private static let common: Set<ItemAttribute> = [
    .accessGroup, .synchronizable, .accessControl, .creationDate, .modificationDate, .label,
    .syncViewHint, .tokenID,
  ]
  private static let ofPasswords: Set<ItemAttribute> = [
    .account, .itemDescription, .comment, .creator, .type, .isInvisible, .isNegative,
  ]
  private static let ofCertificates: Set<ItemAttribute> = [
    .certificateType, .certificateEncoding, .subject, .issuer, .serialNumber, .subjectKeyID,
    .publicKeyHash,
  ]
  private static let ofKeys: Set<ItemAttribute> = [
    .keyClass, .applicationLabel, .applicationTag, .keyCreator, .keyType, .keySize,
    .effectiveKeySize, .startDate, .endDate, .isPermanent, .canEncrypt, .canDecrypt, .canDerive,
    .canSign, .canVerify, .canWrap, .canUnwrap, .isSensitive, .isExtractable,
  ]

  /// Whether an item of this class can have the attribute.
  package func has(_ attribute: ItemAttribute) -> Bool {
    if Self.common.contains(attribute) { return true }
    switch self {
    case .genericPassword:
      return Self.ofPasswords.contains(attribute) || attribute == .service || attribute == .generic
    case .internetPassword:
      return Self.ofPasswords.contains(attribute) || primaryKey.contains(attribute)
    case .certificate:
      return Self.ofCertificates.contains(attribute)
    case .key:
      return Self.ofKeys.contains(attribute)
    }
  }

  /// The attribute that `code` means in an item of this class; nil when there is no such.
  func attribute(code: String) -> ItemAttribute? {
    guard let attribute = ItemAttribute(code: code, in: self), has(attribute) else { return nil }
    return attribute
  }
}
