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
