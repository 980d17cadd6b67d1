import SQLiteDatabase
import SodiumCrypto

extension KeychainClient {
  /// Finds items, with their secrets if the request wants data.
  ///
  /// - Throws: `itemNotFound`, `missingEntitlement`, `param`, `decode` when a row that may be meant
  ///   was altered (it stays, and `Keychain.quarantine` names it), `interactionNotAllowed` when a
  ///   secret is locked, or nobody can be asked, `userCanceled` when somebody has refused.
  package func search(_ request: ItemRequest) throws(KeychainError) -> [FoundItem] {
    try request.checkForSearch()
    return try asking(request) { granted throws(KeychainError) in
      try keychain.read { tx in try search(request, granted: granted, in: tx) }
    }
  }

  private func search(_ request: ItemRequest, granted: Set<ItemID>, in tx: ReadTransaction) throws(KeychainError)
    -> PresenceStep<[FoundItem]>
  {
    let limit = request.limit ?? .one
    // One item comes with its secret, unless a person has to be asked first.
    var found = try matches(request, limit: limit.count, in: tx) { item in
      limit == .one && request.wantsSecret(of: .stored(item.itemClass))
        && (!item.needsPresence || granted.contains(item.id))
    }
    guard !found.isEmpty else { throw Self.nothingFound() }
    let asking = found.flatMap(\.halves).filter { $0.needsPresence }
    if request.authenticationUI == .fail, !asking.isEmpty { throw Self.nobodyToAsk() }
    let open = found.filter { request.wantsSecret(of: $0.itemClass) }.flatMap(\.halves).filter {
      $0.needsPresence && !granted.contains($0.id)
    }
    guard open.isEmpty else { return .asks(open) }
    for index in found.indices {
      let wantsSecret = request.wantsSecret(of: found[index].itemClass)
      if wantsSecret, found[index].secret == nil {
        found[index].secret = try keychain.secret(of: found[index].secretHolder, in: tx)
      }
      if wantsSecret || request.shape.contains(.reference), found[index].privateKey != nil {
        found[index].certificate = try keychain.secret(of: found[index].item, in: tx)
      }
    }
    return .done(found)
  }

  /// What the request means, in the order in which it was added.
  ///
  /// - Parameter isOpened: says which secrets are opened where the statement that finds the item can do that.
  func matches(
    _ request: ItemRequest, limit: Int?, in tx: ReadTransaction, opening isOpened: (Item) -> Bool = { _ in false }
  ) throws(KeychainError) -> [FoundItem] {
    var references: [ItemReference?] = [request.reference]
    if let itemList = request.itemList {
      var seen: Set<ItemReference> = []
      references = itemList.filter { (request.reference == nil || request.reference == $0) && seen.insert($0).inserted }
    }
    var found: [FoundItem] = []
    for reference in references {
      guard let itemClass = request.itemClass ?? reference?.itemClass,
        reference == nil || reference?.itemClass == itemClass
      else { continue }
      let rest = limit.map { $0 - found.count }
      if let rest, rest <= 0 { break }
      switch itemClass {
      case .stored(let stored): found += try items(stored, request, reference, limit: rest, in: tx, opening: isOpened)
      case .identity: found += try identities(request, reference, limit: rest, in: tx)
      }
    }
    return found
  }

  private func items(
    _ itemClass: ItemClass, _ request: ItemRequest, _ reference: ItemReference?, limit: Int?, in tx: ReadTransaction,
    opening isOpened: (Item) -> Bool
  ) throws(KeychainError) -> [FoundItem] {
    let isWhole = request.isComparedByStore
    let query = ItemQuery(
      itemClass, request.comparedByStore, accessible: request.accessible,
      accessGroups: try groups.groups(searched: request.accessGroup),
      synchronizable: request.searchedSynchronizable(reference), reference: reference, limit: isWhole ? limit : nil)
    let found = try keychain.find(query, in: tx) { isWhole && isOpened($0) }
    let wanted =
      isWhole ? found : found.filter { request.isMetBy($0.item.attributes, needsPresence: $0.item.needsPresence) }
    return wanted.prefix(limit ?? .max).map { FoundItem($0.item, secret: $0.secret) }
  }

  static func nothingFound() -> KeychainError { KeychainError(.itemNotFound, "there is no such item") }

  static func nobodyToAsk() -> KeychainError {
    KeychainError(.interactionNotAllowed, "a person would have to be asked, and must not be")
  }
}

extension ItemRequest {
  /// Nothing said means no; but a reference says which item is meant, whatever that is.
  func searchedSynchronizable(_ reference: ItemReference?) -> ItemQuery.Synchronizable {
    synchronizable ?? (reference == nil ? .no : .any)
  }

  /// Whether the secret itself of an item of that class has to be opened.
  func wantsSecret(of itemClass: RequestClass) -> Bool {
    if shape.contains(.data) { return true }
    // What a reference stands for is the certificate or the key itself.
    guard shape.contains(.reference) else { return false }
    switch itemClass {
    case .stored(.genericPassword), .stored(.internetPassword): return false
    case .stored(.certificate), .stored(.key), .identity: return true
    }
  }
}

/// How many items a caller wants (`m_Limit`).
package enum MatchLimit: Equatable, Sendable {
  /// One, given as a single value. The number 1 means the same.
  case one
  /// At most so many, given as an array.
  case count(Int)
  /// All, given as an array.
  case all

  /// - Throws: `param` for 0 and below.
  package init(_ number: Int64) throws(KeychainError) {
    guard number > 0 else { throw KeychainError(.param, "a limit of \(number) items is invalid") }
    self = number == 1 ? .one : .count(Int(clamping: number))
  }

  /// The most items; nil when there is no limit.
  var count: Int? {
    switch self {
    case .one: 1
    case .count(let count): count
    case .all: nil
    }
  }
}

/// What a caller wants to be given of the items that were found (`r_Data`, `r_Attributes`, …).
package struct ResultShape: OptionSet, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let data = Self(rawValue: 1)
  package static let attributes = Self(rawValue: 2)
  package static let reference = Self(rawValue: 4)
  package static let persistentReference = Self(rawValue: 8)
}

/// An item that a request found or made.
package struct FoundItem: Sendable {
  package let itemClass: RequestClass
  /// Of an identity: its certificate.
  package let item: Item
  /// Of an identity: its private key.
  package let privateKey: Item?
  /// Only if it was asked for. Of an identity: that of the private key.
  package var secret: SecretBytes?
  /// Of an identity, if data or a reference was asked for: the certificate itself.
  package var certificate: SecretBytes?

  init(_ item: Item, secret: SecretBytes? = nil) {
    itemClass = .stored(item.itemClass)
    self.item = item
    privateKey = nil
    self.secret = secret
  }

  init(certificate: Item, privateKey: Item) {
    itemClass = .identity
    item = certificate
    self.privateKey = privateKey
  }

  /// Whose secret is meant, and who says when it can be had.
  package var secretHolder: Item { privateKey ?? item }

  /// False: it was stored without data, and the secret is empty.
  package var hasData: Bool { secretHolder[.hasNoData] == nil }

  /// Every item whose secret is given out with it: of an identity both.
  var halves: [Item] { privateKey.map { [$0, item] } ?? [item] }

  package var reference: ItemReference { ItemReference(itemClass, rowID: item.rowID, id: item.id) }

  /// All attributes; where both halves of an identity have one, that of the certificate.
  package var attributes: ItemAttributes {
    guard let privateKey else { return item.attributes }
    return privateKey.attributes.merging(item.attributes) { _, certificate in certificate }
  }
}
