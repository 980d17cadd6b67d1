import Broker
import Home
import HomeStore
import ThreadDataset
import ThreadkeeperSupport
import Wire

/// `bridge/state`, retained.
struct BridgeState: WireObject {
  private enum Reason: String, WireName { case stopped }

  private let state: Availability
  private let reason: Reason?

  static let online = BridgeState(state: .online, reason: nil).json()
  /// The last will.
  static let offline = BridgeState(state: .offline, reason: nil).json()
  static let stopped = BridgeState(state: .offline, reason: .stopped).json()

  static let sample = BridgeState(state: .online, reason: nil)

  func fields<Coder: WireCoder>(_ c: inout Coder) {
    c.field("reason", reason, "After a clean stop; the last will has none.")
    c.needed("state", state, "Whether the daemon is there.")
  }

  var rules: String {
    #"""
    "if": {"required": ["reason"]},
    "then": {"properties": {"state": {"const": "offline"}}}
    """#
  }
}

/// `router/<border_agent_id>/availability`, retained.
struct RouterAvailability: WireObject {
  let state: Availability

  static let online = RouterAvailability(state: .online).json()
  static let offline = RouterAvailability(state: .offline).json()

  func fields<Coder: WireCoder>(_ c: inout Coder) { c.needed("state", state, "Whether the router can be reached.") }
}

/// `bridge/daemon`, by which other daemons on the base topic are found.
struct BridgeDaemon: WireObject {
  let instance: String
  let process: UInt64
  let version: String

  func fields<Coder: WireCoder>(_ c: inout Coder) {
    c.needed("instance_id", instance, .instance)
    c.needed("process", WireHex(process), "16 hex digits, others in each process.")
    c.version()
    c.needed("version", version, .filled("Of the program."))
  }
}

/// `bridge/info`, retained.
struct BridgeInfo: WireObject {
  private struct Preferred: WirePart {
    let network: ExtendedPANID
    let name: String

    static let sample = Preferred(network: ExtendedPANID(number: 1), name: "")

    func fields<Coder: WireCoder>(_ c: inout Coder) {
      c.needed("ext_pan_id", network)
      c.needed("network_name", name, .networkName)
    }
  }

  let settings: PublisherSettings
  /// Settings of the home.
  let own: HomeSettings
  let name: String
  let preferred: DatasetSummary?
  let protection: Protection
  let routers: Int
  let networks: Int

  func fields<Coder: WireCoder>(_ c: inout Coder) {
    let identity = settings.identity()
    c.needed("alerts_hold", own.alertsHold, "Seconds: `alerts.hold` of the settings.")
    c.field(
      "enrolment_line", identity?.line,
      WireForm(
        "The daemon's [keys](#envelopes); absent until they are made, and when they are damaged.",
        pattern: "^tk1:[A-Za-z0-9_-]{86}:[0-9a-f]{8}$"))
    c.field("fingerprint", identity?.fingerprint, .keyFingerprint("Of these keys."))
    c.needed("home", name, .home)
    c.needed("instance_id", settings.instanceID, .instance)
    c.needed("networks", networks, "Thread networks.")
    c.needed("offline_after", own.offlineAfter, .filled("Seconds: `presence.offline_after` of the settings."))
    c.needed("on_mismatch", own.onMismatch, "`preferred.on_mismatch` of the settings.")
    c.field(
      "preferred_network", preferred.map { Preferred(network: $0.network, name: $0.name) },
      "Absent where none is preferred.")
    c.needed(
      "protection", protection.state,
      "Whether a step is missing: `not_protected` without a border router or a preferred network.")
    c.field(
      "protection_missing", protection.missing.isEmpty ? nil : protection.missing,
      "[Steps](#state-of-protection), in their order.")
    c.needed("routers", routers, "Border routers.")
    c.version()
    c.needed("version", settings.version, .filled("Of the program."))
  }
}

extension WireForm { fileprivate static var instance: WireForm { .text("Of the store.", pattern: "^[0-9a-f]{32}$") } }

/// `bridge/health`, retained with a Message Expiry: flat numbers, and words where intake stands still.
package struct BridgeHealth: WireObject {
  static let intervalSeconds = 60
  static let expirySeconds: UInt32 = 180

  let status: DaemonStatus

  package func fields<Coder: WireCoder>(_ c: inout Coder) {
    let (counts, snapshot, requests) = (status.counts, status.monitor, status.requests)
    c.needed("alerts_active", counts.alertsFiring, "Alerts that fire now.")
    c.needed(
      "answers_dropped", requests.dropped, "Since the start: answers that were too many to wait for the connection.")
    c.field("credentials_read_at", counts.credentialsReadAt, "When a login that shares credentials has last read them.")
    c.needed(
      "duplicates_ignored", snapshot.duplicatesIgnored,
      "Since the start: repetitions, which are not among the rejected.")
    c.needed("events_waiting", status.waiting, "Events that the broker has not acknowledged yet.")
    c.needed(
      "intake", status.intake.state, "`backing_off` while messages cannot be stored, or another client has the session."
    )
    c.needed("intake_reconnects", snapshot.intakeReconnects, "Since the start: connections that were lost or not made.")
    c.field("last_backup_at", status.lastBackup, "When `threadkeeper store backup` has last written one.")
    c.needed("messages_received", snapshot.received, "Since the start.")
    c.needed("messages_rejected", snapshot.rejected, "Since the start.")
    c.needed("networks", counts.networks, "Thread networks.")
    c.needed("publications_refused", snapshot.publicationsRefused, "Since the start: by the broker.")
    c.field("reason", status.intake.reason, .filled("What is wrong and what to do; else absent."))
    c.needed("requests_answered", requests.answered, "Since the start: with `ok`.")
    c.needed("requests_refused", requests.refused, "Since the start: with an error, or too many to be answered.")
    c.needed(
      "retained_ignored", snapshot.retainedIgnored,
      "Since the start: retained messages, which are not among the rejected.")
    c.needed("routers", counts.routers.listed, "Border routers.")
    c.needed("uptime_seconds", status.uptime / 1_000, "Seconds since the start.")
    c.version()
  }
}
