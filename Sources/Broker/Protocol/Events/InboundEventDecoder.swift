// SPDX-License-Identifier: Apache-2.0

import Home
import ThreadDataset
import ThreadRequests
import ThreadkeeperSupport
import Wire

/// Reads the JSON of events.
package struct InboundEventDecoder: Sendable {
  package init() {}

  /// - Throws: a `Rejection` that names the code, the field and the offset.
  package func decode(_ payload: [UInt8], as kind: InboundEventKind) throws(Rejection)
    -> InboundEvent
  {
    try event(kind, fields(payload))
  }

  func fields(_ payload: [UInt8]) throws(Rejection) -> InboundEventFields {
    try checkSize(payload)
    return try InboundEventFields(reading: payload)
  }

  /// Size, encoding, grammar and depth, before a typed decoder reads a payload.
  package func check(_ payload: [UInt8]) throws(Rejection) {
    try checkSize(payload)
    do throws(JSONFlaw) {
      try UntrustedJSON.check(
        payload, depth: InboundLimits.nesting, skipsByteOrderMark: true)
    } catch {
      throw Rejection(error)
    }
  }

  private func checkSize(_ payload: [UInt8]) throws(Rejection) {
    guard payload.count <= InboundLimits.payloadBytes else {
      throw Rejection(
        .tooLarge,
        message: "a payload has at most \(InboundLimits.payloadBytes) bytes, this one has "
          + "\(payload.count)")
    }
  }

  func event(_ kind: InboundEventKind, _ fields: InboundEventFields) throws(Rejection)
    -> InboundEvent
  {
    if fields.isSealed {
      throw Rejection(
        .unsupported, field: "sealed", message: "there cannot be an envelope here")
    }
    if kind == .credentials { return try credentials(fields) }
    var event = InboundEvent(kind: kind, subject: try subject(kind, fields))
    event.order = try order(fields)
    if case .agent = event.subject {
      if kind == .offline {
        event.trouble =
          try text(fields.reason, "reason", atMost: InboundLimits.sentenceCharacters) ?? ""
      }
      return event
    }
    event.name = try text(fields.name, "name")
    event.vendor = try text(fields.vendor, "vendor")
    event.model = try text(fields.model, "model")
    event.accessPoint = try text(fields.accessPoint, "access_point")
    event.ssid = try text(fields.ssid, "ssid")
    event.previousSSID = try text(fields.previousSSID, "previous_ssid")
    if let address = fields.extendedAddress {
      guard let bytes = Hexadecimal.decode(address), bytes.count == 8 else {
        throw Rejection(
          .badValue, field: "ext_address", message: "expected 16 hex digits (8 bytes)")
      }
      event.extendedAddress = bytes
    }
    if let dataset = try dataset(kind, fields) { event.take(dataset) }
    try event.takeThreadReport(of: fields)
    if kind == .ssid, event.ssid == nil {
      throw Rejection(
        .missingField, field: "ssid", message: "an ssid event needs the new network name in `ssid`")
    }
    return event
  }

  /// Of a sender that is no border router, so that most fields say nothing here.
  private func credentials(_ fields: InboundEventFields) throws(Rejection) -> InboundEvent {
    guard let dataset = try dataset(.credentials, fields), let network = dataset.extendedPANID
    else { throw Rejection(.badDataset, field: "dataset", message: Self.unreadable) }
    var event = InboundEvent(kind: .credentials, subject: .network(network))
    event.take(dataset)
    event.order = try order(fields)
    event.name = try text(fields.name, "name")
    if let text = fields.borderAgentID { event.borderAgent = try agent(text) }
    guard !fields.hasOddPreferred else {
      throw Rejection(.wrongType, field: "preferred", message: "expected true or false")
    }
    event.isPreferred = fields.preferred ?? false
    return event
  }

  private func subject(_ kind: InboundEventKind, _ fields: InboundEventFields) throws(Rejection)
    -> InboundEvent.Subject
  {
    guard let text = fields.borderAgentID else {
      if kind == .ssid, let accessPoint = try self.text(fields.accessPoint, "access_point") {
        return .accessPoint(accessPoint)
      }
      if kind == .heartbeat || kind == .offline || kind == .leave,
        let agent = try self.text(fields.agent, "agent"), !agent.isEmpty
      {
        return .agent(agent)
      }
      throw Rejection(
        .missingField, field: "border_agent_id",
        message: "expected `border_agent_id` with 16 or 32 hex digits")
    }
    return .router(try agent(text))
  }

  private func agent(_ text: String) throws(Rejection) -> BorderAgentID {
    guard let agent = BorderAgentID(hex: text) else {
      throw Rejection(
        .badBorderAgentID, field: "border_agent_id",
        message:
          "expected 16 or 32 hex digits that are not all 0, found \(text.utf8.count) characters")
    }
    return agent
  }

  private func order(_ fields: InboundEventFields) throws(Rejection) -> InboundEvent.Order {
    if let sequence = fields.sequence { return .sequence(sequence) }
    if let identifier = try text(fields.identifier, "id") { return .identifier(identifier) }
    return .none
  }

  private func dataset(_ kind: InboundEventKind, _ fields: InboundEventFields) throws(Rejection)
    -> OperationalDataset?
  {
    guard let hex = fields.dataset else {
      if kind == .dataset || kind == .credentials {
        throw Rejection(
          .missingField, field: "dataset",
          message: "a \(kind.rawValue) event needs the operational dataset's TLVs as hex in "
            + "`dataset`")
      }
      return nil
    }
    guard kind == .announce || kind == .dataset || kind == .credentials else { return nil }
    do {
      let dataset = try OperationalDataset(hex: hex)
      // Who has no other one is known with it, and what it lacks is said.
      let isActive = dataset.pendingTimestamp == nil && dataset.delayTimer == nil
      if dataset.kind == .partial, isActive, !dataset.bytes.isEmpty,
        kind == .announce || kind == .credentials && dataset.extendedPANID != nil
      {
        return dataset
      }
      try dataset.requireComplete()
      guard dataset.kind == .complete else {
        throw Rejection(
          .incompleteDataset, field: "dataset",
          message: "this is a pending dataset; publish the active one when it takes effect")
      }
      return dataset
    } catch let error as DatasetError {
      throw Rejection(error, field: "dataset")
    } catch let error as Rejection {
      throw error
    } catch {
      throw Rejection(.badDataset, field: "dataset", message: Self.unreadable)
    }
  }

  private static let unreadable = "the dataset could not be read"

  private func text(
    _ value: String?, _ field: String, atMost most: Int = InboundLimits.textCharacters
  ) throws(Rejection) -> String? {
    guard let value else { return nil }
    // Counting characters takes its time, and there are never more of them than bytes.
    if value.utf8.count <= most { return value }
    guard value.utf8.count <= 4 * most, value.count <= most else {
      throw Rejection(
        .badValue, field: field, message: "a text has at most \(most) characters")
    }
    return value
  }
}

/// The fields that say where a router is, how its Thread interface is, why it is offline, and why it does not use what
/// it was sent.
extension InboundEvent {
  fileprivate mutating func take(_ dataset: OperationalDataset) {
    if dataset.kind == .partial { partial = dataset } else { self.dataset = dataset }
  }

  /// Reads the fields that belong to this kind of event; in others they are ignored, like every field that
  /// is not listed.
  mutating func takeThreadReport(of fields: InboundEventFields) throws(Rejection) {
    switch kind {
    case .announce, .dataset, .heartbeat:
      currentNetwork = try Self.network(fields.currentNetwork)
      threadState = try Self.value(fields.threadState, "thread_state", of: ThreadState.allCases)
      partition = fields.partition
      if kind != .heartbeat {
        adoptionFailure = try Self.value(fields.reason, "reason", of: AdoptionState.reported)
      }
    case .offline:
      offlineReason = try Self.value(fields.reason, "reason", of: OfflineReason.reported)
      httpStatus = fields.httpStatus.flatMap { (100...599).contains($0) ? UInt16($0) : nil }
    case .leave, .ssid, .credentials: break
    }
  }

  private static func network(_ text: String?) throws(Rejection) -> ExtendedPANID? {
    guard let text else { return nil }
    guard let network = ExtendedPANID(hex: text) else {
      throw Rejection(
        .badValue, field: "ext_pan_id",
        message: "expected 16 hex digits (8 bytes) that are not all 0")
    }
    return network
  }

  private static func value<Value: WireWord & Equatable>(
    _ text: String?, _ field: String, of values: [Value]
  ) throws(Rejection) -> Value? {
    guard let text else { return nil }
    // The value found is not repeated: it may be anything.
    guard let value = Value(word: text), values.contains(value) else {
      throw Rejection(
        .badValue, field: field,
        message: "expected one of \(values.map(\.word.description).joined(separator: ", "))")
    }
    return value
  }
}

/// The JSON object of an event as it is on the wire. Fields that are not listed are ignored, so that
/// a publisher may add its own.
struct InboundEventFields: Equatable {
  var borderAgentID: String?
  /// It counts where there is no border agent id, so beside one it may have any type.
  var agent: String?
  var name: String?
  var vendor: String?
  var model: String?
  var extendedAddress: String?
  var accessPoint: String?
  var dataset: String?
  var ssid: String?
  var previousSSID: String?
  var currentNetwork: String?
  var threadState: String?
  var partition: UInt32?
  var reason: String?
  var sequence: UInt64?
  var identifier: String?
  /// Anything else than a whole number counts as absent.
  var httpStatus: UInt64?
  var isSealed = false
  /// It counts in `credentials` only, so in others it may have any type.
  var preferred: Bool?
  var hasOddPreferred = false

  init() {}

  /// - Throws: `Rejection` that names the field or the offset: invalid JSON, nested too deep, not UTF-8, no object, a
  ///   field of another type. Of a field that comes twice, the first that is not null counts.
  init(reading payload: [UInt8]) throws(Rejection) {
    self.init()
    var wrong: Rejection?
    let isObject: Bool
    do throws(JSONFlaw) {
      isObject = try UntrustedJSON.readMembers(
        of: payload, depth: InboundLimits.nesting, skipsByteOrderMark: true
      ) { member in
        do throws(Rejection) {
          try take(member)
        } catch {
          if wrong == nil { wrong = error }
        }
      }
    } catch {
      throw Rejection(error)
    }
    guard isObject else { throw Rejection(.wrongType, message: "expected a JSON object") }
    if let wrong { throw wrong }
  }

  private mutating func take(_ member: JSONMember) throws(Rejection) {
    switch member.name {
    case "border_agent_id": try Self.read(member, "border_agent_id", into: &borderAgentID)
    case "agent": if agent == nil, case .string(let text) = member.value { agent = text.text }
    case "dataset": try Self.read(member, "dataset", into: &dataset)
    case "name": try Self.read(member, "name", into: &name)
    case "vendor": try Self.read(member, "vendor", into: &vendor)
    case "model": try Self.read(member, "model", into: &model)
    case "ext_address": try Self.read(member, "ext_address", into: &extendedAddress)
    case "access_point": try Self.read(member, "access_point", into: &accessPoint)
    case "ssid": try Self.read(member, "ssid", into: &ssid)
    case "previous_ssid": try Self.read(member, "previous_ssid", into: &previousSSID)
    case "ext_pan_id": try Self.read(member, "ext_pan_id", into: &currentNetwork)
    case "thread_state": try Self.read(member, "thread_state", into: &threadState)
    case "reason": try Self.read(member, "reason", into: &reason)
    case "id": try Self.read(member, "id", into: &identifier)
    case "sealed": isSealed = true
    case "partition_id": try Self.read(member, "partition_id", into: &partition)
    case "seq": try Self.read(member, "seq", into: &sequence)
    case "http_status":
      if httpStatus == nil, case .number(let number) = member.value { httpStatus = number.unsigned }
    case "preferred": readPreferred(member)
    default: break
    }
  }

  private mutating func readPreferred(_ member: JSONMember) {
    guard preferred == nil, !hasOddPreferred else { return }
    switch member.value {
    case .null: break
    case .bool(let value): preferred = value
    case .string, .number, .nested: hasOddPreferred = true
    }
  }

  private static func read(
    _ member: JSONMember, _ name: String, into field: inout String?
  ) throws(Rejection) {
    guard field == nil else { return }
    switch member.value {
    case .null: break
    case .string(let string):
      guard let text = string.text else {
        throw Rejection(
          .invalidJSON, field: name,
          message:
            "the text has an unpaired surrogate; send both `\\u` escapes, or the character itself")
      }
      field = text
    case .number, .bool, .nested:
      throw Rejection(.wrongType, field: name, message: "expected a text")
    }
  }

  private static func read<Number: FixedWidthInteger & UnsignedInteger>(
    _ member: JSONMember, _ name: String, into field: inout Number?
  ) throws(Rejection) {
    guard field == nil else { return }
    if case .null = member.value { return }
    guard case .number(let number) = member.value,
      let value = number.unsigned.flatMap({ Number(exactly: $0) })
    else {
      throw Rejection(
        .wrongType, field: name,
        message: "expected a whole number from 0 to 2^\(Number.bitWidth)-1")
    }
    field = value
  }
}

/// An event whose fields are in an envelope. What lies beside that is for others on the broker, and
/// counts for nothing: it must say the same.
package struct SealedEvent: Sendable {
  package let kind: InboundEventKind
  let outside: InboundEventFields
}

/// What a payload on the topic of an event is.
package enum ReadEvent: Sendable {
  case plain(InboundEvent)
  case sealed(SealedEvent)
}

extension InboundEventDecoder {
  /// - Throws: a `Rejection` that names the code, the field and the offset.
  package func read(_ payload: [UInt8], as kind: InboundEventKind) throws(Rejection) -> ReadEvent {
    let fields = try fields(payload)
    guard fields.isSealed else { return .plain(try event(kind, fields)) }
    guard fields.dataset == nil else {
      throw Rejection(
        .notSealed, field: "dataset",
        message:
          "the dataset is in plaintext beside the envelope; put it in the envelope only")
    }
    return .sealed(SealedEvent(kind: kind, outside: fields))
  }

  /// The event that an envelope held.
  ///
  /// - Parameter sequence: that of the envelope.
  package func decode(
    _ body: [UInt8], inside sealed: SealedEvent, sequence: UInt64
  ) throws(Rejection) -> InboundEvent {
    var fields = try fields(body)
    if let own = fields.sequence, own != sequence { throw .outsideDiffers("seq") }
    fields.sequence = sequence
    if let field = sealed.outside.firstDifference(from: fields) { throw .outsideDiffers(field) }
    if sealed.kind == .credentials,
      sealed.outside.hasOddPreferred
        || sealed.outside.preferred.map({ $0 != fields.preferred }) == true
    {
      throw .outsideDiffers("preferred")
    }
    var event = try event(sealed.kind, fields)
    event.wasSealed = true
    return event
  }
}

extension InboundEventFields {
  /// The first field that is said here and not, or otherwise, said there.
  fileprivate func firstDifference(from other: InboundEventFields) -> String? {
    if let borderAgentID, !Self.isSameAgent(borderAgentID, other.borderAgentID) {
      return "border_agent_id"
    }
    if let sequence, sequence != other.sequence { return "seq" }
    if let partition, partition != other.partition { return "partition_id" }
    let texts = [
      ("agent", agent, other.agent), ("name", name, other.name), ("vendor", vendor, other.vendor),
      ("model", model, other.model),
      ("ext_address", extendedAddress, other.extendedAddress),
      ("access_point", accessPoint, other.accessPoint), ("ssid", ssid, other.ssid),
      ("previous_ssid", previousSSID, other.previousSSID), ("id", identifier, other.identifier),
      ("ext_pan_id", currentNetwork, other.currentNetwork),
      ("thread_state", threadState, other.threadState), ("reason", reason, other.reason),
    ]
    return texts.first { _, mine, others in
      mine.map { mine in others.map { !mine.hasBytes(of: $0) } ?? true } ?? false
    }?.0
  }

  private static func isSameAgent(_ mine: String, _ other: String?) -> Bool {
    guard let other else { return false }
    if let mine = BorderAgentID(hex: mine), let other = BorderAgentID(hex: other) {
      return mine == other
    }
    return mine.hasBytes(of: other)
  }
}

extension Rejection {
  fileprivate static func outsideDiffers(_ field: String) -> Rejection {
    Rejection(
      .outsideDiffers, field: field,
      message:
        "the envelope says otherwise, or nothing, about this; leave it out beside the envelope")
  }
}
