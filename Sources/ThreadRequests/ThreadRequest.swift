// SPDX-License-Identifier: Apache-2.0

import ThreadDataset
import Wire

/// A request whose fields are sound and complete for its command.
package struct ThreadRequest: Sendable, Hashable {
  /// Bytes of a `transaction`.
  package static let transactionBytes = 256

  package var command: RequestCommand
  package var transaction: String?
  package var home: String?
  package var agent: BorderAgentID?
  /// Complete and active.
  package var dataset: OperationalDataset?
  package var network: ExtendedPANID?
  /// Of a network, where it is not named by its id.
  package var networkName: String?
  /// Of a consent, or of a network that was preferred.
  package var id: String?
  package var scope: ConsentScope?
  /// What the preferred network is asked for; nil: the requester uses it itself.
  package var purpose: Purpose?
  /// With which a button of Home Assistant decides.
  package var token: String?
  /// What a program of this machine calls itself: for people to read only.
  package var program: String?

  package enum Purpose: String, Sendable, Hashable, CaseIterable {
    /// The requester makes it the preferred network of Home Assistant: a person has a day to decide.
    case write
  }

  package init(_ command: RequestCommand) {
    self.command = command
  }

  /// Checks what the command needs. Fields that it does not need are ignored.
  ///
  /// - Throws: `AnswerFailure` with `invalid_payload` and the field, with the code of a dataset's
  ///   rule, or with `incomplete_dataset`.
  package init(_ command: RequestCommand, _ fields: RequestFields) throws(AnswerFailure) {
    self.command = command
    self.home = fields.home
    self.program = fields.program.flatMap { ProgramName($0)?.text }
    if let transaction = fields.transaction {
      guard Self.isSound(transaction: transaction) else {
        throw AnswerFailure(
          .invalidPayload, field: "transaction",
          "a transaction has at most \(Self.transactionBytes) bytes")
      }
      self.transaction = transaction
    }
    switch command {
    case .storeCredentials:
      agent = try Self.agent(fields)
      dataset = try Self.dataset(fields)
    case .deleteCredentials, .getCredentials, .askConsent: agent = try Self.agent(fields)
    case .getNetwork, .shareCredentials: network = try Self.network(fields)
    case .checkPreferred: dataset = try Self.dataset(fields)
    case .setPreferred:
      try readPreferred(fields)
    case .forgetNetwork:
      id = fields.id
      if id == nil { network = try Self.network(fields) }
    case .approveConsent, .denyConsent:
      guard let id = fields.id, (1...64).contains(id.utf8.count) else {
        throw AnswerFailure(.invalidPayload, field: "id", "expected the id of a consent")
      }
      self.id = id
      token = fields.token
      guard !fields.isWrong("scope") else {
        throw AnswerFailure(.invalidPayload, field: "scope", "expected once or always")
      }
      scope = fields.scope
    case .getPreferred:
      guard !fields.isWrong("purpose") else {
        throw AnswerFailure(.invalidPayload, field: "purpose", "expected write")
      }
      purpose = fields.purpose
    case .ping, .listCredentials, .listActiveCredentials, .nearbyNetworks, .isPreferredAvailable,
      .forgetPreferred, .pendingConsents, .listRouters, .listNetworks, .listAlerts:
      break
    }
  }

  package static func isSound(transaction: String) -> Bool {
    transaction.utf8.count <= transactionBytes
  }

  /// The same request for a wire.
  package func fields(on wire: RequestFields.Wire) -> RequestFields {
    var fields = RequestFields(on: wire)
    fields.home = home
    fields.transaction = transaction
    fields.agent = agent
    fields.dataset = dataset.map { WireDataset($0.bytes) }
    fields.network = network
    fields.networkName = networkName
    fields.id = id
    fields.scope = scope
    fields.purpose = purpose
    fields.token = token
    fields.program = program
    return fields
  }

  /// Which network is to be the preferred one: named in one of four ways.
  private mutating func readPreferred(_ fields: RequestFields) throws(AnswerFailure) {
    let hasNetwork = fields.has("ext_pan_id", fields.network)
    let hasDataset = fields.has("dataset", fields.dataset)
    let named = [hasNetwork, hasDataset, fields.networkName != nil, fields.id != nil]
    guard named.count(where: { $0 }) == 1 else {
      throw AnswerFailure(
        .invalidPayload, field: "ext_pan_id",
        "expected exactly one of `ext_pan_id`, `network_name`, `id` and `dataset`")
    }
    if hasDataset { dataset = try Self.dataset(fields) }
    if hasNetwork { network = try Self.network(fields) }
    networkName = fields.networkName
    id = fields.id
    if network != nil, fields.has("border_agent_id", fields.agent) {
      agent = try Self.agent(fields)
    }
  }

  private static func agent(_ fields: RequestFields) throws(AnswerFailure) -> BorderAgentID {
    guard let agent = fields.agent else {
      throw AnswerFailure(
        .invalidPayload, field: "border_agent_id", "expected 16 or 32 hex digits that are not all 0"
      )
    }
    return agent
  }

  private static func network(_ fields: RequestFields) throws(AnswerFailure) -> ExtendedPANID {
    guard let network = fields.network else {
      throw AnswerFailure(
        .invalidPayload, field: "ext_pan_id", "expected 16 hex digits that are not all 0")
    }
    return network
  }

  private static func dataset(
    _ fields: RequestFields
  ) throws(AnswerFailure) -> OperationalDataset {
    if let error = fields.datasetError { throw AnswerFailure(error) }
    guard let bytes = fields.dataset?.bytes else {
      throw AnswerFailure(
        .invalidPayload, field: "dataset", "expected the active operational dataset's TLVs as hex")
    }
    let dataset: OperationalDataset
    do throws(DatasetError) {
      dataset = try OperationalDataset(bytes: bytes)
      try dataset.requireComplete()
    } catch {
      throw AnswerFailure(error)
    }
    guard dataset.kind == .complete else {
      throw AnswerFailure(
        .incompleteDataset, field: "dataset",
        "this is a pending dataset; the active one is asked for")
    }
    return dataset
  }
}

extension ThreadRequest: CustomStringConvertible, CustomReflectable {
  /// Never the dataset.
  package var description: String { "request \(command.rawValue)" }
  package var customMirror: Mirror { Mirror(self, children: []) }
}
