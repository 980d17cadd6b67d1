import Broker
import Home
import SodiumCrypto
import ThreadDataset
import ThreadkeeperSupport
import Wire

/// What a person has agreed to be changed in Home Assistant's Thread store. See docs/reference/mqtt-protocol.md, Changes
/// of a store.
struct StoreChange: Equatable, Sendable {
  enum Action: Equatable, Sendable {
    case delete
    /// The preferred border agent of the network.
    case prefer(BorderAgentID, extendedAddress: WireHex)
  }

  /// The same message may come more than once.
  let id: String
  let network: ExtendedPANID
  let action: Action

  /// For the log.
  var sentence: String {
    switch action {
    case .delete: "network \(network) is deleted from it, as a person has agreed"
    case .prefer(let agent, _): "it prefers border router \(agent) of network \(network), as a person has agreed"
    }
  }
}

extension StoreChange {
  /// Opens a message on `out/<user>/dataset/change`.
  ///
  /// - Parameter now: Unix seconds.
  /// - Throws: `Refusal`: not sealed, not signed by the daemon that `keys` names, expired, for another topic, or without
  ///   a field.
  init(_ message: IncomingMessage, keys: AgentKeys, now: Int64) throws(AdoptionOrder.Refusal) {
    var opened = try OpenedEnvelope(order: message, keys: keys, now: now)
    defer { wipe(&opened.body) }
    guard let order = try? SealedOrder(reading: opened.body), let id = order.id, opened.order == .identifier(id),
      let network = order.network
    else { throw .init(description: "a field is missing or differs from the envelope") }
    (self.id, self.network) = (id, network)
    if order.deletes == true, order.agent == nil {
      action = .delete
    } else if order.deletes != true, let agent = order.agent, let address = order.extendedAddress {
      action = .prefer(agent, extendedAddress: address)
    } else {
      throw .init(description: "it does not say what is to be done")
    }
  }
}
