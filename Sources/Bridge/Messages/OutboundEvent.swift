import Broker
import Home
import HomeStore
import ThreadDataset
import ThreadRequests
import ThreadkeeperSupport
import Wire

/// `bridge/event` and `router/<border_agent_id>/event`: what has happened. What all have in common comes first, then
/// the detail of this kind.
struct OutboundEvent: WireObject {
  /// Why a dataset was ignored, or a router left.
  enum Reason: String, WireName { case older, conflict, removed }

  enum Scope: String, WireName { case once, always }

  var kind: OutboundEventKind
  let time: WireTime
  var agent: BorderAgentID?
  var network: ExtendedPANID?
  var user: ExactName?
  var command: ConsentSubject.Command?
  var decidedBy: String?
  var differs: DatasetDifferences?
  var expiresAt: WireTime?
  var fingerprint: String?
  var id: String?
  var message: String?
  var networkName: String?
  var preferred: PreferredCheck?
  var previousNetwork: ExtendedPANID?
  var previousSSID: String?
  var reason: Reason?
  var rejection: Rejection?
  var requester: String?
  var scope: Scope?
  var ssid: String?
  var topic: String?

  init(_ kind: OutboundEventKind, at time: WireTime) {
    self.kind = kind
    self.time = time
  }

  func fields<Coder: WireCoder>(_ c: inout Coder) {
    c.field("border_agent_id", agent)
    c.needed("event_type", kind, "What happened.")
    c.field("ext_pan_id", network)
    c.needed("time", time)
    c.field("user", user, .user)
    c.version()
    c.field("code", (rejection?.code).map(RejectionCode.init), "Why it was rejected.")
    c.field("command", command)
    c.field("decided_by", decidedBy, .filled("Who decided."))
    c.field("differs", differs)
    c.field("expires_at", expiresAt)
    c.field("field", rejection?.field, .filled("The field to blame."))
    c.field("fingerprint", fingerprint, .keyFingerprint)
    c.field(
      "id", id, .text("Of the consent; when it was sent by an earlier always, of that.", pattern: "^[cg]-[0-9a-f]{16}$")
    )
    c.field("message", rejection?.message ?? message, .filled("For people."))
    c.field("network_name", networkName, .networkNames)
    c.field(
      "offset", rejection?.offset.map { max(0, $0) }, "Bytes from the beginning of the dataset, else of the payload.")
    c.field("preferred", preferred?.published)
    c.field("previous_ext_pan_id", previousNetwork)
    c.field("previous_ssid", previousSSID, .label)
    c.field("reason", reason, "Why a dataset was ignored, or a router left.")
    c.field("requester", requester, .requester)
    c.field("scope", scope, "For how long an approval holds.")
    c.field("ssid", ssid, .label)
    c.field("tlv", rejection?.tlv, .filled("The TLV to blame."))
    c.field("topic", topic, .filled("Of the message that was rejected, its first 400 bytes.", most: 400))
  }
}

/// Of a message, or of the dataset in it.
private struct RejectionCode: WireValue {
  let code: String

  func write(to json: inout JSONWriter) { json.text(code) }

  static func schema(_ form: WireForm, _ describer: inout WireDescriber) -> String {
    WireDescriber.words(
      Rejection.Code.allCases.map(\.rawValue) + EnvelopeRefusal.allCases.map(\.rawValue)
        + DatasetError.Code.allCases.map(\.rawValue))
  }
}

extension RouterEvent {
  var reason: OutboundEvent.Reason? {
    if types.contains(.datasetIgnored) { return isConflict ? .conflict : .older }
    return isRemoved ? .removed : nil
  }
}

// MARK: Its schema

extension OutboundEvent {
  /// What belongs to a kind beside what all have in common.
  private static func rule(_ kinds: [OutboundEventKind], _ needed: [String], _ others: [String] = []) -> String {
    func list(_ names: [String]) -> String { names.map { "\"\($0)\"" }.joined(separator: ", ") }
    let common = ["v", "event_type", "time", "border_agent_id", "ext_pan_id", "network_name", "user"]
    let names = common + (needed + others).filter { !common.contains($0) }
    let id = #", "properties": {"id": {"pattern": "^c-"}}"#
    return #"{"if": {"properties": {"event_type": {"enum": [\#(list(kinds.map(\.rawValue)))]}}}, "#
      + #""then": {"required": [\#(list(needed))]\#(needed.contains("command") ? id : ""), "#
      + #""propertyNames": {"enum": [\#(list(names))]}}}"#
  }

  var rules: String {
    let detail = ["differs", "previous_ext_pan_id", "reason", "message"]
    let asked = ["id", "requester", "command"]
    let all = [
      Self.rule([.routerDiscovered, .routerAnnounced, .routerOnline, .routerLeft], ["border_agent_id"], detail),
      Self.rule([.datasetStored], ["border_agent_id", "ext_pan_id"], detail),
      Self.rule([.datasetUpdated], ["border_agent_id", "ext_pan_id", "differs"], detail),
      Self.rule([.datasetIgnored], ["border_agent_id", "reason"], detail), Self.rule([.preferredChanged], [], detail),
      Self.rule([.ssidChanged], ["border_agent_id", "ssid", "previous_ssid", "preferred"]),
      Self.rule([.messageRejected], ["topic", "code", "message"], ["field", "tlv", "offset"]),
      Self.rule([.consentRequested], asked + ["expires_at", "message"], ["fingerprint"]),
      Self.rule([.consentApproved], asked + ["decided_by", "scope"], ["fingerprint"]),
      Self.rule([.consentDenied], asked + ["decided_by"], ["fingerprint"]),
      Self.rule([.consentExpired], asked, ["fingerprint"]),
      Self.rule([.datasetSent], ["border_agent_id", "ext_pan_id", "id"]),
    ]
    return #""allOf": [\#(all.joined(separator: ", "))]"#
  }
}
