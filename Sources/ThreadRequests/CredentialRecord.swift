import Home
import ThreadDataset
import Wire

/// The credentials of a border router, or of the preferred network, in an answer.
package struct CredentialRecord: WirePart, WireMessage, WireReadable, Hashable, Sendable {
  /// Of the type in the interfaces of the local API.
  package static var varlink: String { "Credential" }

  /// Nil for a preferred network that no stored router of the requester's is on.
  package var agent: BorderAgentID?
  package var network = ExtendedPANID(number: 0)
  package var networkName = ""
  /// 11 to 26.
  package var channel: Int?
  package var panID: UInt16?
  /// Seconds of the Active Timestamp.
  package var activeTimestamp: UInt64?
  package var created: WireTime?
  package var modified: WireTime?
  /// Whether its border router is there and can be reached now.
  package var isActive = false
  /// The network key and the PSKc are in it: nothing else of a record is secret.
  package var dataset: OperationalDataset?

  package init() {}

  /// Without what its dataset says.
  package init(agent: BorderAgentID?, network: ExtendedPANID, networkName: String, isActive: Bool) {
    self.agent = agent
    self.network = network
    self.networkName = networkName
    self.isActive = isActive
  }

  /// - Parameter dataset: what is stored; it stays in the record.
  package init(agent: BorderAgentID?, network: ExtendedPANID, dataset: OperationalDataset, isActive: Bool) {
    self.agent = agent
    self.network = network
    self.networkName = dataset.networkName ?? ""
    self.channel = dataset.channel.map { Int($0.number) }
    self.panID = dataset.panID
    self.activeTimestamp = dataset.activeTimestamp?.seconds
    self.isActive = isActive
    self.dataset = dataset
  }

  package mutating func fields<Coder: WireCoder>(_ c: inout Coder) {
    c.needed("active", &isActive, "Whether its border router is there and can be reached.")
    c.field("active_timestamp", &activeTimestamp, .activeTimestamp)
    c.field("border_agent_id", &agent, "Absent for the preferred network where the requester has no router on it.")
    c.field("channel", &channel, .channel)
    c.field("created_at", &created, "When it was stored first.")
    c.field("dataset", &dataset)
    c.needed("ext_pan_id", &network)
    c.field("modified_at", &modified, "When it was stored last.")
    c.needed("network_name", &networkName, .networkName)
    c.field("pan_id", &panID, .panID)
  }
}

extension CredentialRecord: CustomStringConvertible, CustomReflectable {
  /// Never the dataset.
  package var description: String { "credentials of \(agent?.description ?? network.description)" }
  package var customMirror: Mirror { Mirror(self, children: []) }
}

/// A network that was the preferred one of its home, without its keys.
package struct FormerNetworkRecord: WirePart, WireMessage, WireReadable, Codable, Hashable, Sendable {
  /// Of the type in the interfaces of the local API.
  package static var varlink: String { "FormerNetwork" }

  /// `p-` and 8 hex digits.
  package var id = ""
  package var networkName = ""
  package var extPanId = ""
  package var channel: UInt16?
  /// Seconds; nil where it is damaged.
  package var activeTimestamp: UInt64?
  /// When it was replaced; RFC 3339.
  package var until = ""

  package init() {}

  package mutating func fields<Coder: WireCoder>(_ c: inout Coder) {
    c.field("active_timestamp", &activeTimestamp, .activeTimestamp)
    c.field("channel", &channel, .channel)
    c.needed("ext_pan_id", &extPanId, "Extended PAN ID: 16 digits in lower case.")
    c.needed("id", &id, "Of the history.")
    c.needed("network_name", &networkName, .networkName)
    c.needed("until", &until, "When it was replaced: RFC 3339 in UTC.")
  }
}
