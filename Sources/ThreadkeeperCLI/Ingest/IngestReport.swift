// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import IngestRules
import Settings
import ThreadDataset
import ThreadkeeperDaemon

/// What the rules make of one message, for people and scripts.
struct IngestReport: Encodable {
  struct Dataset: Encodable {
    let networkName: String?
    let extPanId: String?
  }

  struct Fields: Encodable {
    var borderAgentId: String?
    var dataset: Dataset?
    var name: String?
    var vendor: String?
    var model: String?
    var extAddress: String?
    var accessPoint: String?
    var ssid: String?
    var previousSsid: String?
    var extPanId: String?
    var threadState: String?
    var reason: String?
    var seq: UInt64?
    var id: String?
  }

  struct Rejected: Encodable {
    let code: String
    let field: String?
    let tlv: String?
    let offset: Int?
    let message: String
  }

  struct Rule: Encodable {
    let rule: String
    let event: String
    let home: String
    var user: String?
    var team: String?
    /// Of the event; without one there is none.
    var fields: Fields?
    /// The condition that is not met.
    var unmet: String?
    /// What is wrong with a payload that the condition could not look at.
    var unreadable: String?
    /// True for an empty payload.
    var empty: Bool?
    var rejected: Rejected?
  }

  let topic: String
  let rules: [Rule]
  private let remark: String?

  enum CodingKeys: String, CodingKey { case topic, rules }

  init(topic: String, payload: [UInt8], _ settings: Settings) {
    self.topic = topic
    let bases = BaseTopics(settings.homes.map { .init(name: $0.name, base: $0.baseTopic) })
    guard bases.split(topic) == nil else {
      rules = []
      remark = "This is a topic of threadkeeper's own, which no rule reads."
      return
    }
    guard var reading = settings.ingest.reading(topic, payload) else {
      rules = []
      let filters = settings.ingest.all.map { "\($0.name) (\($0.filter.text))" }
      remark =
        filters.isEmpty
        ? "The settings have no rule below `ingest`."
        : "No rule matches this topic: \(filters.joined(separator: ", "))."
      return
    }
    rules = reading.matches.map { Self.read($0, of: &reading, settings) }
    remark = nil
  }

  var isTaken: Bool {
    rules.contains { $0.fields != nil } && rules.allSatisfy { $0.rejected == nil }
  }

  private static func read(
    _ match: IngestReading.Match, of reading: inout IngestReading, _ settings: Settings
  ) -> Rule {
    var rule = Rule(
      rule: match.rule.name, event: match.rule.event.rawValue, home: match.rule.home)
    do throws(Rejection) {
      let user = try reading.user(of: match)
      rule.user = user
      rule.team = settings.team(ofUser: user)
      switch try reading.outcome(of: match) {
      case .event(let event): rule.fields = Fields(event)
      case .nothing(.isEmpty): rule.empty = true
      case .nothing(.unmet(let condition, let flaw)):
        rule.unmet = condition.source
        rule.unreadable = flaw?.message
      }
    } catch {
      rule.rejected = Rejected(
        code: error.code, field: error.field, tlv: error.tlv, offset: error.offset,
        message: error.message)
    }
    return rule
  }

  var text: String {
    if let remark { return remark.printable + "\n" }
    return rules.map(\.text).joined()
  }
}

extension IngestReport.Fields {
  init(_ event: InboundEvent) {
    switch event.subject {
    case .router(let agent): borderAgentId = agent.description
    case .accessPoint(let name): accessPoint = name
    }
    dataset = event.dataset.map {
      .init(networkName: $0.networkName, extPanId: $0.extendedPANID?.description)
    }
    name = event.name
    vendor = event.vendor
    model = event.model
    extAddress = event.extendedAddress.map { Hexadecimal.encode($0) }
    accessPoint = event.accessPoint ?? accessPoint
    ssid = event.ssid
    previousSsid = event.previousSSID
    extPanId = event.currentNetwork?.description
    threadState = event.threadState?.rawValue
    reason = event.offlineReason?.rawValue
    switch event.order {
    case .sequence(let number): seq = number
    case .identifier(let text): id = text
    case .none: break
    }
  }

  /// Name and value of each, in the order of the reference.
  fileprivate var lines: [(name: String, value: String)] {
    let network = dataset.map {
      "of the network \($0.networkName ?? "?"), Extended PAN ID \($0.extPanId ?? "?")"
    }
    let all: [(String, String?)] = [
      ("border_agent_id", borderAgentId), ("dataset", network), ("name", name),
      ("vendor", vendor), ("model", model), ("ext_address", extAddress),
      ("access_point", accessPoint), ("ssid", ssid), ("previous_ssid", previousSsid),
      ("ext_pan_id", extPanId), ("thread_state", threadState), ("reason", reason),
      ("seq", seq.map(String.init)), ("id", id),
    ]
    return all.compactMap { name, value in value.map { (name, $0) } }
  }
}

extension IngestReport.Rule {
  fileprivate var text: String {
    if let rejected {
      let field = rejected.field.map { "\($0): " } ?? ""
      return "\(rule): rejected (\(rejected.code)): \(field)\(rejected.message).\n".printableLine
    }
    guard let fields else {
      let why = unmet.map { "of the condition on \($0)" } ?? "the payload is empty"
      let more = unreadable.map { ": \($0)" } ?? ""
      return "\(rule): nothing, because \(why)\(more).\n".printableLine
    }
    let head = "\(rule): \(event) of the user \(user ?? "?"), team \(team ?? "?"), home \(home)\n"
    return head.printableLine
      + fields.lines.map { "  \($0.name): \($0.value)\n".printableLine }.joined()
  }
}

extension String {
  /// Without what could control a terminal; the line's end stays.
  fileprivate var printableLine: String { String(dropLast()).printable + "\n" }
}
