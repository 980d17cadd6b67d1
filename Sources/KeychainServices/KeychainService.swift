// SPDX-License-Identifier: Apache-2.0

import KeychainCore

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
