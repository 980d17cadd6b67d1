// SPDX-License-Identifier: Apache-2.0

import SodiumCrypto

/// Keychain Services for one client: every call is one transaction, and whoever has to be asked is
/// asked outside of it.
package struct KeychainService: Sendable {
  package let client: KeychainClient
  private let presence: any PresenceProvider

  package init(_ client: KeychainClient, presence: any PresenceProvider = NobodyPresent()) {
    self.client = client
    self.presence = presence
  }

  private var keychain: Keychain { client.keychain }

  /// See `KeychainClient.add`.
  package func add(_ request: ItemRequest) throws(KeychainError) -> FoundItem {
    try keychain.write { tx in try client.add(request, in: tx) }
  }

  /// See `KeychainClient.search`.
  package func search(_ request: ItemRequest) throws(KeychainError) -> [FoundItem] {
    try asking(request) { granted throws(KeychainError) in
      try keychain.read { tx in try client.search(request, granted: granted, in: tx) }
    }
  }

  /// See `KeychainClient.update`.
  @discardableResult
  package func update(
    _ request: ItemRequest, to change: ItemRequest
  ) throws(KeychainError) -> Int {
    try asking(request) { granted throws(KeychainError) in
      try keychain.write { tx in
        try client.update(request, to: change, granted: granted, in: tx)
      }
    }
  }

  /// See `KeychainClient.delete`.
  @discardableResult
  package func delete(_ request: ItemRequest) throws(KeychainError) -> Int {
    try keychain.write { tx in try client.delete(request, in: tx) }
  }

  /// Runs `step`, asks for what it needs a person for, and runs it again with the answer. Items
  /// that came in between are asked for too.
  private func asking<Value>(
    _ request: ItemRequest,
    _ step: (Set<ItemID>) throws(KeychainError) -> PresenceStep<Value>
  ) throws(KeychainError) -> Value {
    var granted: Set<ItemID> = []
    while true {
      switch try step(granted) {
      case .done(let value):
        return value
      case .asks(let items):
        let demands = Set(items.compactMap(\.accessControl))
        let question = PresenceQuestion(demands: Array(demands), prompt: request.prompt)
        let ask = { presence.ask(question) }
        switch request.agreement?(ask) ?? ask() {
        case .present:
          granted.formUnion(items.map(\.id))
        case .refused:
          throw KeychainError(.userCanceled, "the person who was asked refused")
        case .nobody:
          throw KeychainError(
            .interactionNotAllowed, "the item needs a person, and there is nobody to ask")
        }
      }
    }
  }
}

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

/// A name for an item that outlives the program and any change of the item's attributes. As bytes:
///
///     class 4 ("genp") | row 8, big-endian | item 16
///
/// For an identity, the item is its certificate.
package struct PersistentReference: Hashable, Sendable {
  private static let length = 28

  package let itemClass: RequestClass
  package let reference: ItemReference

  package init(_ itemClass: RequestClass, _ reference: ItemReference) {
    self.itemClass = itemClass
    self.reference = reference
  }

  /// - Throws: `param` when the bytes are no reference.
  package init(decoding bytes: [UInt8]) throws(KeychainError) {
    guard bytes.count == Self.length,
      let itemClass = RequestClass(code: String(decoding: bytes[..<4], as: UTF8.self)),
      let id = ItemID(Array(bytes[12...]))
    else { throw KeychainError(.param, "that is no persistent reference of this keychain") }
    let row = bytes[4..<12].reduce(0) { $0 << 8 | UInt64($1) }
    self.init(itemClass, ItemReference(rowID: Int64(bitPattern: row), id: id))
  }

  package var bytes: [UInt8] {
    Array(itemClass.code.utf8)
      + withUnsafeBytes(of: reference.rowID.bigEndian) { Array($0) } + reference.id.bytes
  }
}

/// The secret of an item, under a name for callers that do not see the library below.
package typealias ItemSecret = SecretBytes

/// The system's random source, likewise.
package typealias SystemRandom = RandomBytes

/// A value that one thread at a time may touch, likewise.
package typealias Guarded<Value> = Locked<Value>
