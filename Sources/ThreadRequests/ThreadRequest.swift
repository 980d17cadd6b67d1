import ThreadDataset

/// A request whose fields are sound and complete for its command, and are no others.
@usableFromInline @dynamicMemberLookup package struct ThreadRequest: Sendable, Equatable {
  /// Bytes of a `transaction`.
  package static let transactionBytes = 256

  package var command: RequestCommand
  @usableFromInline var fields = RequestFields()

  // Inlinable, so that a caller in another module takes the field itself: by the key path that takes a thousand
  // instructions.
  @inlinable package subscript<Value>(dynamicMember path: WritableKeyPath<RequestFields, Value>) -> Value {
    get { fields[keyPath: path] }
    set { fields[keyPath: path] = newValue }
  }

  package init(_ command: RequestCommand) { self.command = command }

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
          .invalidPayload, field: "transaction", "a transaction has at most \(Self.transactionBytes) bytes")
      }
      self.transaction = transaction
    }
    switch command {
    case .setPreferred: try readPreferred(fields)
    case .forgetNetwork:
      self.id = fields.id
      if fields.id == nil { self.network = try Self.network(fields) }
    default: for parameter in command.parameters { try read(parameter, fields) }
    }
  }

  private mutating func read(_ parameter: RequestParameter, _ fields: RequestFields) throws(AnswerFailure) {
    switch parameter {
    case .agent: self.agent = try Self.agent(fields)
    case .dataset: self.dataset = try Self.dataset(fields)
    case .network: self.network = try Self.network(fields)
    case .id:
      guard let id = fields.id, (1...64).contains(id.utf8.count) else {
        throw AnswerFailure(.invalidPayload, field: "id", "expected the id of a consent")
      }
      self.id = id
    case .scope:
      guard !fields.isWrong("scope") else {
        throw AnswerFailure(.invalidPayload, field: "scope", "expected once or always")
      }
      self.scope = fields.scope
    case .purpose:
      guard !fields.isWrong("purpose") else { throw AnswerFailure(.invalidPayload, field: "purpose", "expected write") }
      self.purpose = fields.purpose
    case .token: self.token = fields.token
    case .administrator, .networkName, .program, .transaction: break
    }
  }

  package static func isSound(transaction: String) -> Bool { transaction.utf8.count <= transactionBytes }

  package func fields(on wire: RequestFields.Wire) -> RequestFields {
    var fields = fields
    fields.wire = wire
    return fields
  }

  /// Which network is to be the preferred one: named in one of four ways.
  private mutating func readPreferred(_ fields: RequestFields) throws(AnswerFailure) {
    let hasNetwork = fields.has("ext_pan_id", fields.network)
    let hasDataset = fields.has("dataset", fields.dataset)
    let named = [hasNetwork, hasDataset, fields.networkName != nil, fields.id != nil]
    guard named.count(where: { $0 }) == 1 else {
      throw AnswerFailure(
        .invalidPayload, field: "ext_pan_id", "expected exactly one of `ext_pan_id`, `network_name`, `id` and `dataset`"
      )
    }
    if hasDataset { self.dataset = try Self.dataset(fields) }
    if hasNetwork { self.network = try Self.network(fields) }
    (self.networkName, self.id) = (fields.networkName, fields.id)
    if hasNetwork, fields.has("border_agent_id", fields.agent) { self.agent = try Self.agent(fields) }
  }

  private static func agent(_ fields: RequestFields) throws(AnswerFailure) -> BorderAgentID {
    guard let agent = fields.agent else {
      throw AnswerFailure(.invalidPayload, field: "border_agent_id", "expected 16 or 32 hex digits that are not all 0")
    }
    return agent
  }

  private static func network(_ fields: RequestFields) throws(AnswerFailure) -> ExtendedPANID {
    guard let network = fields.network else {
      throw AnswerFailure(.invalidPayload, field: "ext_pan_id", "expected 16 hex digits that are not all 0")
    }
    return network
  }

  private static func dataset(_ fields: RequestFields) throws(AnswerFailure) -> OperationalDataset {
    if let error = fields.datasetError { throw AnswerFailure(error) }
    guard let dataset = fields.dataset else {
      throw AnswerFailure(.invalidPayload, field: "dataset", "expected the active operational dataset's TLVs as hex")
    }
    do throws(DatasetError) { try dataset.requireComplete() } catch { throw AnswerFailure(error) }
    guard dataset.kind == .complete else {
      throw AnswerFailure(
        .incompleteDataset, field: "dataset", "this is a pending dataset; the active one is asked for")
    }
    return dataset
  }
}

extension ThreadRequest: CustomStringConvertible, CustomReflectable {
  /// Never the dataset.
  @usableFromInline package var description: String { "request \(command.rawValue)" }
  @usableFromInline package var customMirror: Mirror { Mirror(self, children: []) }
}
