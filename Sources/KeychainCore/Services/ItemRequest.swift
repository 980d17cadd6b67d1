import SodiumCrypto

/// What a call of Keychain Services says about items, before a rule is applied to it: for `add` the
/// item, for the others which items are meant, for `update` also what they become.
package struct ItemRequest: Sendable {
  package var itemClass: RequestClass?
  /// To be stored, or to be equal. Without the access group, "synchronizable", the accessibility
  /// and the access control, which have places of their own.
  package var attributes: ItemAttributes = [:]
  /// What a new item gets unless `attributes` says otherwise; nothing to search for.
  package var defaults: ItemAttributes = [:]
  package var accessGroup: String?
  /// Nil: not said, which means no.
  package var synchronizable: ItemQuery.Synchronizable?
  package var accessible: Accessibility?
  /// What has to happen besides; in a search, items that need exactly this.
  package var accessControl: AccessControl?
  /// `v_Data`. Says nothing about which items are meant.
  package var secret: SecretBytes?
  /// `v_PersistentRef`, and `v_Ref` of something that came out of this keychain.
  package var reference: ItemReference?
  /// `m_ItemList`: only these.
  package var itemList: [ItemReference]?
  /// Nil: not said, which means one in a search and all otherwise.
  package var limit: MatchLimit?
  /// `m_CaseInsensitive`.
  package var ignoresCase = false
  /// `m_HostOrSubdomainOfHost`: the server is this host or lies below it.
  package var host: String?
  /// Whether any `m_` but the limit was said, even if only to say no.
  package var namesMatching = false
  /// Whether any `r_` was said, even if only to say no.
  package var namesResult = false
  package var shape: ResultShape = []
  package var authenticationUI: AuthenticationUI?
  /// `u_OpPrompt`: shown to the person who is asked.
  package var prompt: String?
  /// `u_AuthCtx`: answers for a person who has agreed a short while ago, or asks.
  package var agreement: (@Sendable (_ ask: () -> Bool?) -> Bool?)?

  package init(_ itemClass: RequestClass? = nil) { self.itemClass = itemClass }

  /// The class, however it is said.
  package var namedClass: RequestClass? { itemClass ?? reference?.itemClass ?? itemList?.first?.itemClass }
}

extension ItemRequest: CustomStringConvertible {
  /// Attributes can be private: only their names.
  package var description: String {
    let names = attributes.keys.map(\.description).sorted().joined(separator: " ")
    return "request for \(itemClass?.code ?? "any class") by [\(names)]"
  }
}

extension ItemRequest {
  /// Whether the store itself can compare everything that the request says.
  var isComparedByStore: Bool { !ignoresCase && host == nil && accessControl == nil && authenticationUI != .skip }

  /// The attributes that the store compares. Where case does not matter, text is compared here.
  var comparedByStore: ItemAttributes {
    guard ignoresCase else { return attributes }
    return attributes.filter { $0.value.string == nil }
  }

  /// Compares what the store does not. Every attribute is compared again, so it also serves where
  /// the store could compare none.
  func isMetBy(_ found: ItemAttributes, needsPresence: Bool) -> Bool {
    if authenticationUI == .skip, needsPresence { return false }
    if let accessControl {
      let flags = found[.accessControl].map { AccessControl($0).flags } ?? []
      guard flags == accessControl.flags else { return false }
    }
    if let host, !Self.isHost(found[.server], orBelow: host) { return false }
    return attributes.allSatisfy { attribute, wanted in
      found.has(wanted, for: attribute) || ignoresCase && Self.areSameText(found[attribute], wanted)
    }
  }

  /// By Unicode's full case mapping, and canonical equivalence.
  private static func areSameText(_ one: AttributeValue?, _ other: AttributeValue) -> Bool {
    guard let one = one?.string, let other = other.string else { return false }
    return one.lowercased() == other.lowercased()
  }

  /// Whether a server is the host `host`, or a name below it.
  private static func isHost(_ server: AttributeValue?, orBelow host: String) -> Bool {
    guard let server = server?.string?.lowercased() else { return false }
    let host = host.lowercased()
    return server == host || server.hasSuffix("." + host)
  }
}

extension ItemRequest {
  /// Whether the call makes sense to a client with `groups`, before any item is looked at.
  ///
  /// - Throws: as the call itself would.
  package func check(for call: KeychainCall, by groups: AccessGroups) throws(KeychainError) {
    switch call {
    case .add:
      _ = try checkedForAdd()
      _ = try groups.group(ofNew: accessGroup)
      return
    case .search: try checkForSearch()
    case .update(let change):
      try checkForUpdate()
      try change.checkAsChange()
      if let group = change.accessGroup { _ = try groups.checked(group) }
    case .delete: try checkForDelete()
    }
    _ = try groups.groups(searched: accessGroup)
  }

  /// The class of a new item.
  ///
  /// - Throws: `param` for what is invalid when an item is added, `unimplemented` for an
  ///   application password.
  func checkedForAdd() throws(KeychainError) -> ItemClass {
    guard let itemClass else { throw Self.param("an item needs a class") }
    guard case .stored(let stored) = itemClass else {
      throw Self.param("an identity is added as its certificate and its private key")
    }
    guard reference == nil, itemList == nil else {
      throw Self.param("an item to be added has no persistent reference yet")
    }
    try checkValues()
    return stored
  }

  /// - Throws: `param` when nothing says which items are meant.
  func checkForSearch() throws(KeychainError) {
    guard itemClass != nil || reference != nil || itemList != nil else {
      throw Self.param("a search needs a class or a persistent reference")
    }
  }

  func checkForUpdate() throws(KeychainError) {
    try checkForSearch()
    try checkIsNoSkip()
    guard shape.isEmpty, !namesResult else { throw Self.param("an update returns nothing: it takes no r_ keys") }
    guard limit == nil, !namesMatching else { throw Self.param("an update changes every match: it takes no m_ keys") }
  }

  /// Checks what items are to become.
  func checkAsChange() throws(KeychainError) {
    guard itemClass == nil, reference == nil, itemList == nil, shape.isEmpty, !namesResult, limit == nil,
      !namesMatching, authenticationUI == nil
    else { throw Self.param("an update can change attributes and data only") }
    try checkValues()
  }

  func checkForDelete() throws(KeychainError) {
    try checkForSearch()
    try checkIsNoSkip()
    guard limit == nil || limit == .all else { throw Self.param("deleting concerns every match: it takes no limit") }
  }

  /// What can be searched for but not stored.
  private func checkValues() throws(KeychainError) {
    if synchronizable == .any { throw Self.param("an item is synchronizable or it is not: \"any\" is for searches") }
    if synchronizable == .yes, let accessible { try Self.checkMayLeaveDevice(accessible) }
    if accessControl?.flags.contains(.applicationPassword) == true {
      throw KeychainError(.unimplemented, "application passwords are not supported")
    }
    try checkIsNoSkip()
  }

  /// - Throws: `param` where an item of this accessibility would be synchronizable: it is for this device only.
  static func checkMayLeaveDevice(_ accessible: Accessibility) throws(KeychainError) {
    guard accessible.isThisDeviceOnly else { return }
    throw param("an item is synchronizable or for this device only, and not both")
  }

  private func checkIsNoSkip() throws(KeychainError) {
    guard authenticationUI != .skip else { throw Self.param("only a search can skip items that need a person") }
  }

  private static func param(_ message: String) -> KeychainError { KeychainError(.param, message) }
}

/// The classes that a request can name: those that are stored, and the identity, which is a
/// certificate joined to its private key.
package enum RequestClass: Hashable, Sendable {
  case stored(ItemClass)
  case identity

  /// As `kSecClass` has it.
  package var code: String {
    switch self {
    case .stored(let itemClass): itemClass.code
    case .identity: "idnt"
    }
  }

  package init?(code: String) {
    if code == Self.identity.code {
      self = .identity
    } else if let itemClass = ItemClass(code: code) {
      self = .stored(itemClass)
    } else {
      return nil
    }
  }

  /// The attribute that `code` means in an item of this class.
  ///
  /// - Throws: `noSuchAttribute` when no item of this class has it.
  package func attribute(code: String) throws(KeychainError) -> ItemAttribute {
    let found: ItemAttribute? =
      switch self {
      case .stored(let itemClass): itemClass.attribute(code: code)
      case .identity: ItemClass.key.attribute(code: code) ?? ItemClass.certificate.attribute(code: code)
      }
    guard let found else {
      throw KeychainError(.noSuchAttribute, "items of the class \(self.code) have no attribute \"\(code)\"")
    }
    return found
  }
}
