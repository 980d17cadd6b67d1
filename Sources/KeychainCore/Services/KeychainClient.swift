import SQLiteDatabase
import SodiumCrypto

/// A keychain as one client sees it: the rules of Keychain Services over its access groups. Every call is one
/// transaction, and whoever has to be asked is asked outside of it.
package struct KeychainClient: Sendable {
  let keychain: Keychain
  let groups: AccessGroups
  private let confirm: (@Sendable (_ prompt: String?) -> Bool?)?

  /// - Parameter confirm: asks a person, with the words of the program that asks, if it has any: true when somebody
  ///   agrees, false when somebody refuses, nil when there is nobody. It may take as long as a person does.
  package init(_ keychain: Keychain, groups: AccessGroups, confirm: (@Sendable (_ prompt: String?) -> Bool?)? = nil) {
    self.keychain = keychain
    self.groups = groups
    self.confirm = confirm
  }
}

/// What a step answers that may need a person first. Nothing has changed when it does.
enum PresenceStep<Value: Sendable>: Sendable {
  case done(Value)
  case asks([Item])
}

extension KeychainClient {
  /// Runs `step`, asks for what it needs a person for, and runs it again with the answer. Items
  /// that came in between are asked for too.
  func asking<Value>(_ request: ItemRequest, _ step: (Set<ItemID>) throws(KeychainError) -> PresenceStep<Value>)
    throws(KeychainError) -> Value
  {
    var granted: Set<ItemID> = []
    while true {
      switch try step(granted) {
      case .done(let value): return value
      case .asks(let items):
        let ask = { confirm?(request.prompt) }
        switch request.agreement.map({ $0(ask) }) ?? ask() {
        case true?: granted.formUnion(items.map(\.id))
        case false?: throw KeychainError(.userCanceled, "the person who was asked refused")
        case nil: throw KeychainError(.interactionNotAllowed, "the item needs a person, and there is nobody to ask")
        }
      }
    }
  }

  /// Adds an item. The dates are stamped, whatever the request says.
  ///
  /// - Throws: `duplicateItem`, `missingEntitlement` for a group that is not the client's, `param`,
  ///   `interactionNotAllowed` when the class is locked.
  package func add(_ request: ItemRequest) throws(KeychainError) -> FoundItem {
    let itemClass = try request.checkedForAdd()
    var attributes = request.defaults.merging(request.attributes) { $1 }
    attributes[.accessControl] = nil
    attributes[.creationDate] = nil
    attributes[.modificationDate] = nil
    attributes[.accessGroup] = .string(try groups.group(ofNew: request.accessGroup))
    attributes[.synchronizable] = .bool(request.synchronizable == .yes)
    if let control = request.accessControl, !control.flags.isEmpty { attributes[.accessControl] = control.attribute }
    attributes[.hasNoData] = request.secret == nil ? .bool(true) : nil
    let secret = request.secret ?? SecretBytes(copying: [])
    let new = NewItem(
      itemClass, attributes: attributes, secret: secret, accessible: request.accessible ?? .whenUnlocked)
    let item = try keychain.write { tx in try keychain.add(new, in: tx) }
    return FoundItem(item, secret: request.wantsSecret(of: .stored(itemClass)) ? secret : nil)
  }
}

extension KeychainClient {
  /// Changes every match, or none, and returns how many.
  ///
  /// - Parameter change: attributes and secret that the matches get; what it does not say stays.
  /// - Throws: `itemNotFound`, `duplicateItem`, `missingEntitlement`, `param`, `interactionNotAllowed`, `decode`.
  @discardableResult package func update(_ request: ItemRequest, to change: ItemRequest) throws(KeychainError) -> Int {
    try request.checkForUpdate()
    try change.checkAsChange()
    return try asking(request) { granted throws(KeychainError) in
      try keychain.write { tx in try update(request, to: change, granted: granted, in: tx) }
    }
  }

  private func update(_ request: ItemRequest, to change: ItemRequest, granted: Set<ItemID>, in tx: WriteTransaction)
    throws(KeychainError) -> PresenceStep<Int>
  {
    let found = try matches(request, limit: nil, in: tx)
    guard !found.isEmpty else { throw Self.nothingFound() }
    let asking = found.map(\.item).filter { $0.needsPresence && !granted.contains($0.id) }
    guard asking.isEmpty else {
      if request.authenticationUI == .fail { throw Self.nobodyToAsk() }
      return .asks(asking)
    }
    let (attributes, removing) = try changes(change)
    for one in found {
      guard one.privateKey == nil else {
        throw KeychainError(.param, "an identity is changed as its certificate and its private key")
      }
      try check(change, isPossibleFor: one.item.itemClass)
      if change.synchronizable.map({ $0 == .yes }) ?? one.item.isSynchronizable {
        try ItemRequest.checkMayLeaveDevice(change.accessible ?? one.item.accessible)
      }
    }
    for one in found {
      try keychain.update(
        one.item, attributes: attributes, removing: removing, secret: change.secret, accessible: change.accessible,
        in: tx)
    }
    return .done(found.count)
  }

  private func changes(_ change: ItemRequest) throws(KeychainError) -> (ItemAttributes, removing: Set<ItemAttribute>) {
    var attributes = change.attributes
    var removing: Set<ItemAttribute> = change.secret == nil ? [] : [.hasNoData]
    // The store stamps the one, and nobody changes the other.
    attributes[.modificationDate] = nil
    attributes[.creationDate] = nil
    if let group = change.accessGroup { attributes[.accessGroup] = .string(try groups.checked(group)) }
    if let synchronizable = change.synchronizable { attributes[.synchronizable] = .bool(synchronizable == .yes) }
    if let control = change.accessControl, !control.flags.isEmpty {
      attributes[.accessControl] = control.attribute
      return (attributes, removing)
    }
    // A new accessibility is a new access control without conditions.
    if change.accessible != nil { removing.insert(.accessControl) }
    return (attributes, removing)
  }

  /// A reference says the class only when its item is found.
  private func check(_ change: ItemRequest, isPossibleFor itemClass: ItemClass) throws(KeychainError) {
    for attribute in change.attributes.keys where !itemClass.has(attribute) {
      throw KeychainError(.noSuchAttribute, "items of the class \(itemClass.code) have no attribute \"\(attribute)\"")
    }
  }
}

extension KeychainClient {
  /// Deletes every match and returns how many. Nobody is asked: what is deleted is not given out.
  ///
  /// Of an identity the certificate goes, and its private key unless another certificate that the
  /// client can see is joined to it.
  ///
  /// - Throws: `itemNotFound`, `missingEntitlement`, `param`, `decode`.
  @discardableResult package func delete(_ request: ItemRequest) throws(KeychainError) -> Int {
    try request.checkForDelete()
    return try keychain.write { tx in try delete(request, in: tx) }
  }

  private func delete(_ request: ItemRequest, in tx: WriteTransaction) throws(KeychainError) -> Int {
    let found = try matches(request, limit: nil, in: tx)
    guard !found.isEmpty else { throw Self.nothingFound() }
    var gone: Set<ItemID> = []
    for one in found where gone.insert(one.item.id).inserted { try keychain.delete(one.item, in: tx) }
    for one in found {
      guard let key = one.privateKey, gone.insert(key.id).inserted else { continue }
      var others = ItemRequest(.identity)
      others.attributes[.publicKeyHash] = one.item[.publicKeyHash]
      others.synchronizable = .any
      guard try matches(others, limit: 1, in: tx).isEmpty else { continue }
      try keychain.delete(key, in: tx)
    }
    return found.count
  }
}

/// What is to happen to the items that a request means.
package enum KeychainCall: Sendable {
  case add
  case search
  case update(to: ItemRequest)
  case delete
}

extension KeychainClient {
  /// Joins certificates to private keys: the hash of the certificate's public key is the key's
  /// application label. Both must be within the client's groups; they need not share one.
  func identities(_ request: ItemRequest, _ reference: ItemReference?, limit: Int?, in tx: ReadTransaction)
    throws(KeychainError) -> [FoundItem]
  {
    let keys = try privateKeys(request, reference, in: tx)
    guard !keys.isEmpty else { return [] }
    let certificates = try keychain.items(
      matching: ItemQuery(
        .certificate, accessGroups: groups.groups(searched: request.accessGroup),
        synchronizable: request.searchedSynchronizable(reference), reference: reference), in: tx)
    var found: [FoundItem] = []
    for certificate in certificates {
      guard let hash = certificate[.publicKeyHash]?.hashedBytes, !hash.isEmpty else { continue }
      for key in keys[hash] ?? [] {
        let identity = FoundItem(certificate: certificate, privateKey: key)
        guard request.isMetBy(identity.attributes, needsPresence: identity.halves.contains { $0.needsPresence }) else {
          continue
        }
        found.append(identity)
        if let limit, found.count >= limit { return found }
      }
    }
    return found
  }

  /// Private keys by their application label.
  private func privateKeys(_ request: ItemRequest, _ reference: ItemReference?, in tx: ReadTransaction)
    throws(KeychainError) -> [[UInt8]: [Item]]
  {
    let keys = try keychain.items(
      matching: ItemQuery(
        .key, [.keyClass: .string("1")], accessible: request.accessible,
        accessGroups: groups.groups(searched: request.accessGroup),
        synchronizable: request.searchedSynchronizable(reference)), in: tx)
    return Dictionary(grouping: keys) { $0[.applicationLabel]?.hashedBytes ?? [] }
  }
}

extension AttributeValue { fileprivate var hashedBytes: [UInt8] { withCanonicalBytes { Array($0) } } }

/// The secret of an item, under a name for callers that do not see the library below.
package typealias ItemSecret = SecretBytes

/// The system's random source, likewise.
package typealias SystemRandom = RandomBytes

/// A value that one thread at a time may touch, likewise.
package typealias Guarded<Value> = Locked<Value>
