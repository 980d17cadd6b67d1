// SPDX-License-Identifier: Apache-2.0

import BoundedJSON
import BridgeProtocol
import MosquittoClient
import SealedEnvelope
import SodiumCrypto
import ThreadDataset

/// What a person has agreed to: the dataset that this router shall use. See docs/reference/mqtt-protocol.md, Adoption.
package struct AdoptionOrder: Equatable, Sendable {
  /// The same message may come more than once.
  package let id: String
  package let agent: BorderAgentID
  /// Complete, and active.
  package let dataset: OperationalDataset
  /// Of its envelope, in Unix seconds.
  package let issuedAt: Int64
  package let expiresAt: Int64

  package init(
    id: String, agent: BorderAgentID, dataset: OperationalDataset, issuedAt: Int64,
    expiresAt: Int64
  ) {
    self.id = id
    self.agent = agent
    self.dataset = dataset
    self.issuedAt = issuedAt
    self.expiresAt = expiresAt
  }

  /// Why a message is not acted upon. Shows nothing of it.
  package struct Refusal: Error, Equatable, Sendable, CustomStringConvertible {
    package let description: String
  }

  /// Opens a message on `out/<user>/dataset/set`.
  ///
  /// - Parameter now: Unix seconds.
  /// - Throws: `Refusal`: not sealed, not signed by the daemon that `keys` names, expired, for another topic, or
  ///   without a complete active dataset.
  package init(
    _ message: IncomingMessage, keys: AgentKeys, now: Int64
  ) throws(Refusal) {
    guard !message.isRetained else { throw Refusal(description: "it is a retained message") }
    guard message.payload.count <= 2 * Envelope.limit,
      let envelope = UntrustedJSON.value(
        of: "sealed", in: message.payload, depth: Envelope.nesting)
    else { throw Refusal(description: "it is not sealed") }
    var opened: OpenedEnvelope
    do throws(EnvelopeRefusal) {
      opened = try Envelope.open(
        envelope, with: keys.own, from: [keys.daemon], topic: message.topic, now: now)
    } catch {
      throw Refusal(description: "\(error.rawValue): \(error.message)")
    }
    defer { wipe(&opened.body) }
    try self.init(reading: opened)
  }

  private init(reading opened: OpenedEnvelope) throws(Refusal) {
    func text(_ name: String) -> String? {
      UntrustedJSON.value(of: name, in: opened.body, depth: Envelope.nesting)
        .flatMap { RESTValue(reading: $0).text }
    }
    guard let id = text("id"), opened.order == .identifier(id),
      let expiresAt = opened.expiresAt,
      let agent = text("border_agent_id").flatMap({ BorderAgentID(hex: $0) }),
      let hex = text("dataset")
    else { throw Refusal(description: "a field is missing or differs from the envelope") }
    do throws(DatasetError) {
      let dataset = try OperationalDataset(hex: hex)
      try dataset.requireComplete()
      guard dataset.kind == .complete else {
        throw DatasetError(code: .badValue, type: nil, offset: 0, message: "it is a pending one")
      }
      self.init(
        id: id, agent: agent, dataset: dataset, issuedAt: opened.issuedAt, expiresAt: expiresAt)
    } catch {
      throw Refusal(description: "its dataset: \(error.message)")
    }
  }
}
