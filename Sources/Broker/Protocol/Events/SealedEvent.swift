// SPDX-License-Identifier: Apache-2.0

import ThreadDataset

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
    let texts = [
      ("name", name, other.name), ("vendor", vendor, other.vendor), ("model", model, other.model),
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
