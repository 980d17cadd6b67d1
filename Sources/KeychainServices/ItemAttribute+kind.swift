// SPDX-License-Identifier: Apache-2.0

import KeychainCore

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
