// Public to be inlined across targets only; no product has it.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import Home
import ThreadDataset
import ThreadkeeperSupport

/// A value of a home that is called by a word in everything that is published.
public protocol WireWord: WireReadable, CaseIterable { var word: StaticString { get } }

extension WireWord {
  /// - Returns: nil for what no value is called.
  public init?(word: String) {
    guard let value = Self.allCases.first(where: { $0.isCalled(word) }) else { return nil }
    self = value
  }

  private func isCalled(_ text: String) -> Bool { word.withUTF8Buffer { text.utf8.elementsEqual($0) } }

  @inlinable public func write(to json: inout JSONWriter) { json.word(word) }

  @inlinable public static func read(_ member: JSONMember, _ form: WireForm?) -> Self? {
    guard case .string(let string) = member.value else { return nil }
    for value in allCases where value.word ~= string { return value }
    return nil
  }

  public static func schema(_ form: WireForm, _ describer: inout WireDescriber) -> String {
    WireDescriber.words(allCases.map(\.word.description))
  }

  public static var varlink: String { "(\(allCases.map(\.word.description).joined(separator: ", ")))" }
}

/// A value of which routers report some.
public protocol WireReportedWord: WireWord, Equatable { static var reported: [Self] { get } }

/// One of those.
public struct WireReported<Value: WireReportedWord>: WireReadable {
  public let value: Value

  public init(_ value: Value) { self.value = value }

  public func write(to json: inout JSONWriter) { value.write(to: &json) }

  public static func read(_ member: JSONMember, _ form: WireForm?) -> Self? {
    guard let value = Value.read(member, form), Value.reported.contains(value) else { return nil }
    return Self(value)
  }

  public static func schema(_ form: WireForm, _ describer: inout WireDescriber) -> String {
    WireDescriber.words(Value.reported.map(\.word.description))
  }
}

/// A value whose cases are the words themselves.
public protocol WireName: WireReadable, CaseIterable, RawRepresentable where RawValue == String {}

extension WireName {
  @inlinable public func write(to json: inout JSONWriter) { json.text(rawValue) }

  public static func read(_ member: JSONMember, _ form: WireForm?) -> Self? {
    if case .string(let string) = member.value { string.text.flatMap(Self.init) } else { nil }
  }

  public static func schema(_ form: WireForm, _ describer: inout WireDescriber) -> String {
    WireDescriber.words(allCases.map(\.rawValue))
  }

  public static var varlink: String { "(\(allCases.map(\.rawValue).joined(separator: ", ")))" }
}

extension AlertName: WireWord {
  package var word: StaticString {
    switch self {
    case .preferredNetworkMismatch: "PreferredNetworkMismatch"
    case .datasetConflict: "DatasetConflict"
    case .staleDataset: "StaleDataset"
    case .credentialsMissing: "CredentialsMissing"
    case .borderRouterOffline: "BorderRouterOffline"
    case .wellKnownNetworkKey: "WellKnownNetworkKey"
    case .noPreferredNetwork: "NoPreferredNetwork"
    case .plaintextCredentials: "PlaintextCredentials"
    case .messagesDropped: "MessagesDropped"
    case .sessionLost: "SessionLost"
    case .storeReadOnly: "StoreReadOnly"
    case .brokerAuthenticationFailed: "BrokerAuthenticationFailed"
    case .adoptionFailed: "AdoptionFailed"
    case .routerDetached: "RouterDetached"
    case .preferredKeyDisputed: "PreferredKeyDisputed"
    case .preferredNetworkChanged: "PreferredNetworkChanged"
    case .homeMoved: "HomeMoved"
    case .sessionTakenOver: "SessionTakenOver"
    case .storeDamaged: "StoreDamaged"
    case .networkSplit: "NetworkSplit"
    case .unknownRouter: "UnknownRouter"
    case .routerNotAdvertised: "RouterNotAdvertised"
    case .consentByHomeAssistant: "ConsentByHomeAssistant"
    case .discoveryAltered: "DiscoveryAltered"
    case .homeAssistantDiffers: "HomeAssistantDiffers"
    case .stateAltered: "StateAltered"
    case .testAlert: "TestAlert"
    case .ghostNetwork: "GhostNetwork"
    case .zigbeeSharesChannel: "ZigbeeSharesChannel"
    case .anotherDaemon: "AnotherDaemon"
    case .anchorAltered: "AnchorAltered"
    case .credentialSharingOpen: "CredentialSharingOpen"
    case .preferredNetworkEmpty: "PreferredNetworkEmpty"
    case .agentNotWorking: "AgentNotWorking"
    case .matterServerDiffers: "MatterServerDiffers"
    case .homeOffline: "HomeOffline"
    case .networkChanges: "NetworkChanges"
    case .reportsDiffer: "ReportsDiffer"
    case .threadPathBroken: "ThreadPathBroken"
    }
  }
}

extension Protection.Step: WireWord {
  package var word: StaticString {
    switch self {
    case .routers: "routers"
    case .preferred: "preferred"
    case .key: "key"
    case .alerts: "alerts"
    case .recoveryCode: "recovery_code"
    }
  }
}

extension Protection.State: WireWord {
  package var word: StaticString {
    switch self {
    case .notProtected: "not_protected"
    case .watching: "watching"
    case .protected: "protected"
    }
  }
}

extension RouterMessage.Kind: WireWord {
  package var word: StaticString {
    switch self {
    case .announce: "announce"
    case .dataset: "dataset"
    case .leave: "leave"
    case .heartbeat: "heartbeat"
    case .offline: "offline"
    case .ssid: "ssid"
    case .credentials: "credentials"
    case .sightings: "sightings"
    }
  }
}

extension AlertSeverity: WireWord {
  package var word: StaticString {
    switch self {
    case .critical: "critical"
    case .warning: "warning"
    case .info: "info"
    }
  }
}

extension CredentialState: WireWord {
  package var word: StaticString {
    switch self {
    case .missing: "missing"
    case .stored: "stored"
    case .stale: "stale"
    case .conflict: "conflict"
    case .shared: "shared"
    case .partial: "partial"
    }
  }
}

extension ThreadState: WireWord {
  package static var form: WireForm { WireForm(name: "thread_state", "Of its Thread interface.") }

  package var word: StaticString {
    switch self {
    case .disabled: "disabled"
    case .detached: "detached"
    case .child: "child"
    case .router: "router"
    case .leader: "leader"
    }
  }
}

extension OfflineReason: WireReportedWord {
  package var word: StaticString {
    switch self {
    case .stopped: "stopped"
    case .unreachable: "unreachable"
    case .frozen: "frozen"
    case .untrusted: "untrusted"
    case .noNetwork: "no_network"
    case .failing: "failing"
    case .silent: "silent"
    }
  }

  /// What an `offline` event may give as its reason.
  package static let reported: [OfflineReason] = [.stopped, .unreachable, .frozen, .untrusted, .noNetwork, .failing]
}

extension AdoptionState: WireReportedWord {
  /// As the reason of an alert.
  package var word: StaticString {
    switch self {
    case .due: "due"
    case .asked: "asked"
    case .agreed: "agreed"
    case .sent: "sent"
    case .notEnrolled: "not_enrolled"
    case .damagedKeys: "damaged_enrolment"
    case .damagedCredentials: "damaged_credentials"
    case .denied: "denied"
    case .expired: "expired"
    case .timeout: "timeout"
    case .disagreement: "disagreement"
    case .pendingChange: "pending_change"
    case .refused: "refused"
    case .noAnswer: "no_answer"
    case .notAttached: "not_attached"
    }
  }

  /// As it is published of a router.
  package enum Published: String, WireName { case asked, agreed, sent, failed }

  /// Nil where nobody was asked yet.
  package var published: Published? {
    switch self {
    case .due: nil
    case .asked: .asked
    case .agreed: .agreed
    case .sent: .sent
    default: .failed
    }
  }

  /// What an `announce` or `dataset` may give as its reason.
  package static let reported: [AdoptionState] = [.pendingChange, .refused, .noAnswer, .notAttached]
}

extension AlertFacts.Trigger: WireWord {
  package var word: StaticString {
    switch self {
    case .announce: "announce"
    case .dataset: "dataset"
    case .heartbeat: "heartbeat"
    case .offline: "offline"
    case .ssid: "ssid"
    case .ssidChanged: "ssid_changed"
    case .preferredChanged: "preferred_changed"
    case .request: "request"
    case .deleted: "deleted"
    case .silence: "silence"
    case .mdns: "mdns"
    case .accepted: "accepted"
    case .adoption: "adoption"
    }
  }
}

extension Router {
  /// Who describes it, as it is published.
  package enum Source: String, WireName { case mqtt, mdns, meshcop }

  package var publishedSource: Source {
    switch source {
    case .mqtt: .mqtt
    case .mdns: reading?.readAt == nil ? .mdns : .meshcop
    }
  }
}

extension ReadingProblem: WireWord {
  package var word: StaticString {
    switch self {
    case .noAnswer: "no_answer"
    case .refused: "refused"
    case .invalid: "invalid"
    }
  }
}

extension PreferredCheck {
  /// As it is published.
  package enum Published: String, WireName, Codable, Sendable {
    case match, mismatch, none

    package static var form: WireForm {
      WireForm(name: "check", "Against the preferred network; none: there is nothing to compare.")
    }
  }

  package var published: Published {
    switch self {
    case .none: .none
    case .match: .match
    case .mismatch, .stale, .conflict: .mismatch
    }
  }
}

extension DatasetParameter: WireName {}

extension HomeSettings.OnMismatch: WireName {}

extension DatasetDifferences: WireValue {
  package func write(to json: inout JSONWriter) { parameters.write(to: &json) }

  package static var form: WireForm { WireForm(name: "differs", "Names of the parameters that differ, never a value.") }

  package static func schema(_ form: WireForm, _ describer: inout WireDescriber) -> String {
    [DatasetParameter].schema(form, &describer) + #", "uniqueItems": true"#
  }
}

extension Alert.News: WireWord {
  package var word: StaticString {
    switch self {
    case .raised: "alert_raised"
    case .updated: "alert_updated"
    case .resolved: "alert_resolved"
    }
  }
}

/// What `bridge/event` and `router/<border_agent_id>/event` are about, but for alerts.
package enum OutboundEventKind: String, WireName {
  case routerDiscovered = "router_discovered"
  case routerAnnounced = "router_announced"
  case routerOnline = "router_online"
  case datasetStored = "dataset_stored"
  case datasetUpdated = "dataset_updated"
  case datasetIgnored = "dataset_ignored"
  case preferredChanged = "preferred_changed"
  case ssidChanged = "ssid_changed"
  case routerLeft = "router_left"
  case consentRequested = "consent_requested"
  case consentApproved = "consent_approved"
  case consentDenied = "consent_denied"
  case consentExpired = "consent_expired"
  case datasetSent = "dataset_sent"
  case messageRejected = "message_rejected"

  /// All that `router/<border_agent_id>/event` may carry.
  package static let ofRouters = allCases.filter { $0 != .messageRejected }
}
