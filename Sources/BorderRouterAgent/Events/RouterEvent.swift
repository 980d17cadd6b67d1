// SPDX-License-Identifier: Apache-2.0

import Broker
import Glibc
import SodiumCrypto
import ThreadDataset

/// An event of a border router, before it has a sequence number. See docs/reference/mqtt-protocol.md.
package struct RouterEvent: Equatable, Sendable {
  package var kind: InboundEventKind
  package var agent: BorderAgentID
  /// 16 hex digits; of `announce` and `dataset`.
  package var extendedAddress: String?
  package var dataset: OperationalDataset?
  /// The network that it is on. Nil while Thread is disabled: a stopped router goes on naming its previous one.
  package var network: ExtendedPANID?
  package var threadState: ThreadState?
  /// Of `offline`.
  package var reason: OfflineReason?
  /// Of `announce` and `dataset`: why what threadkeeper has sent is not used; one of `AdoptionState.reported`.
  package var adoptionFailure: AdoptionState?

  package init(_ kind: InboundEventKind, of agent: BorderAgentID, reason: OfflineReason? = nil) {
    self.kind = kind
    self.agent = agent
    self.reason = reason
  }

  /// With what a report says of Thread, and for `announce` and `dataset` with all of it.
  init(_ kind: InboundEventKind, _ report: RouterReport, dataset: OperationalDataset? = nil) {
    self.init(kind, of: report.agent)
    threadState = report.state
    network = report.state == .disabled ? nil : report.network
    guard kind != .heartbeat else { return }
    extendedAddress = report.extendedAddress
    self.dataset = dataset
  }
}

/// What people call a router, for its announcements; what is nil stays as it was.
package struct RouterDescription: Equatable, Sendable {
  package var name: String?
  package var vendor: String?
  package var model: String?

  package init(name: String? = nil, vendor: String? = nil, model: String? = nil) {
    self.name = name
    self.vendor = vendor
    self.model = model
  }
}

/// Makes publications of one agent's events: numbered, and sealed and signed where there are keys. See
/// docs/reference/mqtt-protocol.md.
struct EventEncoder: Sendable {
  let base: String
  let user: String
  let keys: AgentKeys?
  /// The number of the latest publication, which its answer names.
  private(set) var lastSequence: UInt64 = 0

  init(base: String, user: String, keys: AgentKeys?) {
    self.base = base
    self.user = user
    self.keys = keys
  }

  func topic(_ kind: InboundEventKind) -> String { "\(base)/in/\(user)/\(kind.rawValue)" }

  /// Where threadkeeper's answers to events go.
  ///
  /// - Parameter name: of the router or agent: its last level.
  func answerTopic(_ name: String) -> String {
    OutboundTopic(base: base).answer(to: user, command: "event") + "/\(name)"
  }

  /// - Parameters:
  ///   - responseTopic: where the answer is wanted.
  ///   - expiry: seconds after which the broker drops it; nil: it waits for a daemon that is away.
  ///   - now: nanoseconds since 1970. The sequence number follows it, and rises in any case.
  ///   - encode: the JSON of the event with this number. It is wiped.
  /// - Throws: `SealingError`.
  mutating func publication(
    _ kind: InboundEventKind, responseTopic: String, expiry: UInt32? = nil, now: UInt64,
    _ encode: (UInt64) -> [UInt8]
  ) throws(SealingError) -> Publication {
    lastSequence = max(now, lastSequence + 1)
    let topic = topic(kind)
    var body = encode(lastSequence)
    defer { wipe(&body) }
    var payload = body
    if let keys {
      let envelope = try Envelope.seal(
        body, to: keys.daemon, from: keys.own,
        at: .init(
          topic: topic, order: .sequence(lastSequence), now: Int64(now / 1_000_000_000)))
      payload = Array("{\"sealed\":".utf8) + envelope + Array("}".utf8)
    }
    return Publication(
      topic: topic, payload: payload, messageExpiry: expiry, contentType: "application/json",
      correlationData: Array("\(kind.rawValue) \(lastSequence)".utf8),
      responseTopic: responseTopic,
      token: lastSequence)
  }

  /// For people: the topic and the fields.
  func summary(_ kind: InboundEventKind, _ body: [UInt8]) -> String {
    "\(topic(kind))\(keys == nil ? "" : " (sealed)") \(String(decoding: body, as: UTF8.self))"
  }
}

/// Nanoseconds since 1970.
func nanosecondsSince1970() -> UInt64 {
  var time = timespec()
  clock_gettime(CLOCK_REALTIME, &time)
  return UInt64(max(0, time.tv_sec)) * 1_000_000_000 + UInt64(max(0, time.tv_nsec))
}
