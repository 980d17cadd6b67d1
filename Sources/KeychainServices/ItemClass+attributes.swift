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

extension ItemAttribute {
  /// What the values of an attribute are, so that the same value always has the same bytes.
  package enum Kind: Sendable {
    /// Text or data. Both are kept as they come, and are equal when their bytes are.
    case bytes
    case number
    /// A number, or text that is kept as it comes.
    case numberOrText
    /// Text that stands for a number: `"42"` is RSA. A number becomes its decimal digits.
    case decimalText
    /// Text of four characters. A number becomes the four characters that its bytes are.
    case fourCharacters
    case truth
    case date
  }

  package var kind: Kind {
    switch self {
    case .port, .keySize, .effectiveKeySize, .certificateType, .certificateEncoding: .number
    case .creator, .type, .keyCreator: .numberOrText
    case .keyClass, .keyType: .decimalText
    case .protocolType, .authenticationType: .fourCharacters
    case .synchronizable, .isInvisible, .isNegative, .isPermanent, .canEncrypt, .canDecrypt,
      .canDerive, .canSign, .canVerify, .canWrap, .canUnwrap, .isSensitive, .isExtractable:
      .truth
    case .creationDate, .modificationDate, .startDate, .endDate: .date
    default: .bytes
    }
  }
}
