/// The classes of items that are stored. An identity is a certificate joined to its key, and no
/// row of its own. The raw values are part of the format.
package enum ItemClass: UInt8, CaseIterable, Sendable {
  case genericPassword = 1
  case internetPassword = 2
  case certificate = 3
  case key = 4

  /// As `kSecClass` has it.
  package var code: String {
    switch self {
    case .genericPassword: "genp"
    case .internetPassword: "inet"
    case .certificate: "cert"
    case .key: "keys"
    }
  }

  package init?(code: String) {
    guard let match = Self.allCases.first(where: { $0.code == code }) else { return nil }
    self = match
  }

  /// What no two items may have in common, in the order in which it is hashed: part of the format.
  package var primaryKey: [ItemAttribute] {
    switch self {
    case .genericPassword: [.account, .service, .accessGroup, .synchronizable]
    case .internetPassword:
      [
        .account, .securityDomain, .server, .protocolType, .authenticationType, .port, .path, .accessGroup,
        .synchronizable,
      ]
    case .certificate: [.certificateType, .issuer, .serialNumber, .accessGroup, .synchronizable]
    case .key:
      [
        .keyClass, .applicationLabel, .applicationTag, .keyCreator, .keyType, .keySize, .effectiveKeySize, .startDate,
        .endDate, .accessGroup, .synchronizable,
      ]
    }
  }

  /// What the columns `index_1` and `index_2` hold: part of the format.
  var sideIndexes: (first: ItemAttribute, second: ItemAttribute) {
    switch self {
    case .genericPassword: (.service, .account)
    case .internetPassword: (.server, .account)
    case .certificate: (.issuer, .label)
    case .key: (.applicationLabel, .applicationTag)
    }
  }
}

/// When the secret of an item can be had. The raw values are part of the format.
package enum Accessibility: UInt8, CaseIterable, Sendable {
  case whenUnlocked = 0
  case afterFirstUnlock = 1
  case always = 2
  case whenUnlockedThisDeviceOnly = 3
  case afterFirstUnlockThisDeviceOnly = 4
  case alwaysThisDeviceOnly = 5
  case whenPasscodeSetThisDeviceOnly = 6

  /// As `kSecAttrAccessible` has it.
  package var code: String {
    switch self {
    case .whenUnlocked: "ak"
    case .afterFirstUnlock: "ck"
    case .always: "dk"
    case .whenUnlockedThisDeviceOnly: "aku"
    case .afterFirstUnlockThisDeviceOnly: "cku"
    case .alwaysThisDeviceOnly: "dku"
    case .whenPasscodeSetThisDeviceOnly: "akpu"
    }
  }

  package init?(code: String) {
    guard let match = Self.allCases.first(where: { $0.code == code }) else { return nil }
    self = match
  }

  /// Bound to a file outside of the store, and left in the backup by a restore elsewhere.
  package var isThisDeviceOnly: Bool { rawValue >= 3 }

  /// The root key that wraps the class keys; for this device only, together with the device key.
  var wrapper: KeyPurpose {
    switch self {
    case .whenUnlocked, .whenUnlockedThisDeviceOnly, .whenPasscodeSetThisDeviceOnly: .session
    case .afterFirstUnlock, .always, .afterFirstUnlockThisDeviceOnly, .alwaysThisDeviceOnly: .master
    }
  }

  var keyPurpose: KeyPurpose { KeyPurpose(rawValue: KeyPurpose.firstClass + rawValue) }
}

/// An attribute of an item, by the byte that stands for it on the disk: part of the format, never
/// given to another attribute. 1…127 are Keychain Services' own, 192…255 are this project's; one
/// that this version does not know is kept as it is.
package struct ItemAttribute: RawRepresentable, Hashable, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  private init(_ rawValue: UInt8) { self.rawValue = rawValue }

  package static let account = Self(1)
  package static let service = Self(2)
  package static let accessGroup = Self(3)
  package static let synchronizable = Self(4)
  package static let label = Self(5)
  /// "Description" in Keychain Services: the kind of item.
  package static let itemDescription = Self(6)
  package static let comment = Self(7)
  package static let generic = Self(8)
  package static let creator = Self(9)
  package static let type = Self(10)
  package static let isInvisible = Self(11)
  package static let isNegative = Self(12)
  package static let creationDate = Self(13)
  package static let modificationDate = Self(14)
  package static let accessControl = Self(15)
  package static let syncViewHint = Self(16)

  package static let securityDomain = Self(24)
  package static let server = Self(25)
  package static let protocolType = Self(26)
  package static let authenticationType = Self(27)
  package static let port = Self(28)
  package static let path = Self(29)

  package static let certificateType = Self(32)
  package static let certificateEncoding = Self(33)
  package static let subject = Self(34)
  package static let issuer = Self(35)
  package static let serialNumber = Self(36)
  package static let subjectKeyID = Self(37)
  package static let publicKeyHash = Self(38)

  package static let keyClass = Self(48)
  /// `klbl`: for a private key, the hash of its public key.
  package static let applicationLabel = Self(49)
  package static let applicationTag = Self(50)
  package static let keyCreator = Self(51)
  package static let keyType = Self(52)
  package static let keySize = Self(53)
  package static let effectiveKeySize = Self(54)
  package static let startDate = Self(55)
  package static let endDate = Self(56)
  package static let isPermanent = Self(57)
  package static let canEncrypt = Self(58)
  package static let canDecrypt = Self(59)
  package static let canDerive = Self(60)
  package static let canSign = Self(61)
  package static let canVerify = Self(62)
  package static let canWrap = Self(63)
  package static let canUnwrap = Self(64)
  package static let isSensitive = Self(65)
  package static let isExtractable = Self(66)
  package static let tokenID = Self(67)

  /// The item was stored without data, which is not the same as with no bytes of data.
  package static let hasNoData = Self(193)

  /// Whether an item without it counts as one with an empty value or 0: what is part of a primary key, as in Apple's
  /// schema (SecItemSchema.c). All others are missing.
  package var isEmptyByDefault: Bool { Self.ofPrimaryKeys.contains(self) }

  private static let ofPrimaryKeys = Set(ItemClass.allCases.flatMap(\.primaryKey))
}

extension ItemAttribute {
  /// The four letters of Keychain Services for each attribute. `crtr` and `type` mean another
  /// thing in a key than in a password, so a key's have attributes of their own here.
  private static let codes: [(ItemAttribute, String)] = [
    (.account, "acct"), (.service, "svce"), (.accessGroup, "agrp"), (.synchronizable, "sync"), (.label, "labl"),
    (.itemDescription, "desc"), (.comment, "icmt"), (.generic, "gena"), (.creator, "crtr"), (.type, "type"),
    (.isInvisible, "invi"), (.isNegative, "nega"), (.creationDate, "cdat"), (.modificationDate, "mdat"),
    (.accessControl, "accc"), (.securityDomain, "sdmn"), (.server, "srvr"), (.protocolType, "ptcl"),
    (.authenticationType, "atyp"), (.port, "port"), (.path, "path"), (.certificateType, "ctyp"),
    (.certificateEncoding, "cenc"), (.subject, "subj"), (.issuer, "issr"), (.serialNumber, "slnr"),
    (.subjectKeyID, "skid"), (.publicKeyHash, "pkhh"), (.keyClass, "kcls"), (.applicationLabel, "klbl"),
    (.applicationTag, "atag"), (.keySize, "bsiz"), (.effectiveKeySize, "esiz"), (.startDate, "sdat"),
    (.endDate, "edat"), (.isPermanent, "perm"), (.canEncrypt, "encr"), (.canDecrypt, "decr"), (.canDerive, "drve"),
    (.canSign, "sign"), (.canVerify, "vrfy"), (.canWrap, "wrap"), (.canUnwrap, "unwp"), (.isSensitive, "sens"),
    (.isExtractable, "extr"), (.tokenID, "tkid"), (.syncViewHint, "vwht"),
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
    case .hasNoData: "hasNoData"
    default: "attribute \(rawValue)"
    }
  }
}

extension ItemClass {
  /// What every item can have, whatever its class.
  private static let common: Set<ItemAttribute> = [
    .accessGroup, .synchronizable, .accessControl, .creationDate, .modificationDate, .label, .syncViewHint, .tokenID,
  ]
  private static let ofPasswords: Set<ItemAttribute> = [
    .account, .itemDescription, .comment, .creator, .type, .isInvisible, .isNegative,
  ]
  private static let ofCertificates: Set<ItemAttribute> = [
    .certificateType, .certificateEncoding, .subject, .issuer, .serialNumber, .subjectKeyID, .publicKeyHash,
  ]
  private static let ofKeys: Set<ItemAttribute> = [
    .keyClass, .applicationLabel, .applicationTag, .keyCreator, .keyType, .keySize, .effectiveKeySize, .startDate,
    .endDate, .isPermanent, .canEncrypt, .canDecrypt, .canDerive, .canSign, .canVerify, .canWrap, .canUnwrap,
    .isSensitive, .isExtractable,
  ]

  /// Whether an item of this class can have the attribute.
  package func has(_ attribute: ItemAttribute) -> Bool {
    if Self.common.contains(attribute) { return true }
    switch self {
    case .genericPassword: return Self.ofPasswords.contains(attribute) || attribute == .service || attribute == .generic
    case .internetPassword: return Self.ofPasswords.contains(attribute) || primaryKey.contains(attribute)
    case .certificate: return Self.ofCertificates.contains(attribute)
    case .key: return Self.ofKeys.contains(attribute)
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
    case .synchronizable, .isInvisible, .isNegative, .isPermanent, .canEncrypt, .canDecrypt, .canDerive, .canSign,
      .canVerify, .canWrap, .canUnwrap, .isSensitive, .isExtractable:
      .truth
    case .creationDate, .modificationDate, .startDate, .endDate: .date
    default: .bytes
    }
  }
}
