// SPDX-License-Identifier: Apache-2.0

extension ItemAttribute {
  /// The four letters of Keychain Services for each attribute. `crtr` and `type` mean another
  /// thing in a key than in a password, so a key's have attributes of their own here.
  private static let codes: [(ItemAttribute, String)] = [
    (.account, "acct"), (.service, "svce"), (.accessGroup, "agrp"), (.synchronizable, "sync"),
    (.label, "labl"), (.itemDescription, "desc"), (.comment, "icmt"), (.generic, "gena"),
    (.creator, "crtr"), (.type, "type"), (.isInvisible, "invi"), (.isNegative, "nega"),
    (.creationDate, "cdat"), (.modificationDate, "mdat"), (.accessControl, "accc"),
    (.securityDomain, "sdmn"), (.server, "srvr"), (.protocolType, "ptcl"),
    (.authenticationType, "atyp"), (.port, "port"), (.path, "path"),
    (.certificateType, "ctyp"), (.certificateEncoding, "cenc"), (.subject, "subj"),
    (.issuer, "issr"), (.serialNumber, "slnr"), (.subjectKeyID, "skid"), (.publicKeyHash, "pkhh"),
    (.keyClass, "kcls"), (.applicationLabel, "klbl"), (.applicationTag, "atag"),
    (.keySize, "bsiz"), (.effectiveKeySize, "esiz"), (.startDate, "sdat"), (.endDate, "edat"),
    (.isPermanent, "perm"), (.canEncrypt, "encr"), (.canDecrypt, "decr"), (.canDerive, "drve"),
    (.canSign, "sign"), (.canVerify, "vrfy"), (.canWrap, "wrap"), (.canUnwrap, "unwp"),
    (.isSensitive, "sens"), (.isExtractable, "extr"), (.tokenID, "tkid"),
    (.syncViewHint, "vwht"),
  ]
  private static let codeByAttribute: [ItemAttribute: String] = Dictionary(
    codes, uniquingKeysWith: { first, _ in first }
  ).merging([.keyCreator: "crtr", .keyType: "type"]) { first, _ in first }
  private static let attributeByCode: [String: ItemAttribute] = Dictionary(
    codes.map { ($0.1, $0.0) }, uniquingKeysWith: { first, _ in first })

  /// As `kSecAttr…` has it; nil for this project's own.
  package var code: String? { Self.codeByAttribute[self] }

  /// The attribute that `code` means in an item of `itemClass`.
  package init?(code: String, in itemClass: ItemClass) {
    switch (code, itemClass) {
    case ("crtr", .key): self = .keyCreator
    case ("type", .key): self = .keyType
    default:
      guard let attribute = Self.attributeByCode[code] else { return nil }
      self = attribute
    }
  }
}

extension ItemAttribute: CustomStringConvertible {
  package var description: String {
    if let code { return code }
    return switch self {
    case .preferredMember: "preferredMember"
    case .hasNoData: "hasNoData"
    default: "attribute \(rawValue)"
    }
  }
}
