// SPDX-License-Identifier: Apache-2.0

import KeychainCore
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
  package var reference: PersistentReference?
  /// `m_ItemList`: only these.
  package var itemList: [PersistentReference]?
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
  /// `u_OpPrompt`: told to the person who is asked.
  package var prompt: String?
  /// `u_AuthCtx`: answers for a person who has agreed a short while ago, or asks.
  package var agreement: (@Sendable (_ ask: () -> PresenceAnswer) -> PresenceAnswer)?

  package init(_ itemClass: RequestClass? = nil) {
    self.itemClass = itemClass
  }

  /// The class, however it is said.
  package var namedClass: RequestClass? {
    itemClass ?? reference?.itemClass ?? itemList?.first?.itemClass
  }
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
  var isComparedByStore: Bool {
    !ignoresCase && host == nil && accessControl == nil && authenticationUI != .skip
  }

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
      let missing: AttributeValue? = attribute.isEmptyByDefault ? .data([]) : nil
      guard let value = found[attribute] ?? missing else { return false }
      return value.matches(wanted) || ignoresCase && Self.areSameText(value, wanted)
    }
  }

  /// By Unicode's full case mapping, and canonical equivalence.
  private static func areSameText(_ one: AttributeValue, _ other: AttributeValue) -> Bool {
    guard let one = one.string, let other = other.string else { return false }
    return one.lowercased() == other.lowercased()
  }

  /// Whether a server is the host `host`, or a name below it.
  private static func isHost(_ server: AttributeValue?, orBelow host: String) -> Bool {
    guard let server = server?.string?.lowercased() else { return false }
    let host = host.lowercased()
    return server == host || server.hasSuffix("." + host)
  }
}
