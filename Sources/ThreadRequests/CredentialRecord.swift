import FoundationEssentials
import ThreadDataset

/// The credentials of a border router, or of the preferred network, in an answer.
package struct CredentialRecord: Hashable, Sendable {
  /// Nil for a preferred network that no stored router of the requester's is on.
  package var agent: BorderAgentID?
  package var network: ExtendedPANID
  package var networkName: String
  /// 11 to 26.
  package var channel: Int?
  package var panID: UInt16?
  /// Seconds of the Active Timestamp.
  package var activeTimestamp: UInt64?
  package var created: Date?
  package var modified: Date?
  /// Whether its border router is there and can be reached now.
  package var isActive: Bool
  /// The network key and the PSKc are in it: nothing else of a record is secret.
  package var dataset: OperationalDataset?

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
}

extension CredentialRecord: CustomStringConvertible, CustomReflectable {
  /// Never the dataset.
  package var description: String { "credentials of \(agent?.description ?? network.description)" }
  package var customMirror: Mirror { Mirror(self, children: []) }
}

extension CredentialRecord: Codable {
  enum CodingKeys: String, CodingKey {
    case agent = "border_agent_id"
    case network = "ext_pan_id"
    case networkName = "network_name"
    case channel
    case panID = "pan_id"
    case activeTimestamp = "active_timestamp"
    case created = "created_at"
    case modified = "modified_at"
    case isActive = "active"
    case dataset
  }

  package func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encodeIfPresent(agent?.description, forKey: .agent)
    try fields.encode(network.description, forKey: .network)
    try fields.encode(networkName, forKey: .networkName)
    try fields.encodeIfPresent(channel, forKey: .channel)
    try fields.encodeIfPresent(panID, forKey: .panID)
    try fields.encodeIfPresent(activeTimestamp, forKey: .activeTimestamp)
    try fields.encodeIfPresent(created?.formatted(.iso8601), forKey: .created)
    try fields.encodeIfPresent(modified?.formatted(.iso8601), forKey: .modified)
    try fields.encode(isActive, forKey: .isActive)
    try fields.encodeIfPresent(dataset?.hex, forKey: .dataset)
  }

  package init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    agent = try fields.decodeIfPresent(String.self, forKey: .agent).map {
      try Self.value(BorderAgentID(hex: $0), .agent, fields)
    }
    network = try Self.value(ExtendedPANID(hex: try fields.decode(String.self, forKey: .network)), .network, fields)
    networkName = try fields.decode(String.self, forKey: .networkName)
    channel = try fields.decodeIfPresent(Int.self, forKey: .channel)
    panID = try fields.decodeIfPresent(UInt16.self, forKey: .panID)
    activeTimestamp = try fields.decodeIfPresent(UInt64.self, forKey: .activeTimestamp)
    created = try Self.date(.created, fields)
    modified = try Self.date(.modified, fields)
    isActive = try fields.decode(Bool.self, forKey: .isActive)
    dataset = try fields.decodeIfPresent(String.self, forKey: .dataset).map {
      try Self.value(try? OperationalDataset(hex: $0), .dataset, fields)
    }
  }

  private static func date(_ key: CodingKeys, _ fields: KeyedDecodingContainer<CodingKeys>) throws -> Date? {
    try fields.decodeIfPresent(String.self, forKey: key).map {
      try value(try? Date($0, strategy: .iso8601), key, fields)
    }
  }

  /// The value itself is in no error: it may be secret.
  private static func value<T>(_ value: T?, _ key: CodingKeys, _ fields: KeyedDecodingContainer<CodingKeys>) throws -> T
  {
    guard let value else {
      throw DecodingError.dataCorruptedError(forKey: key, in: fields, debugDescription: "not a sound value")
    }
    return value
  }
}

/// A network that was the preferred one of its home, without its keys.
package struct FormerNetworkRecord: Codable, Hashable, Sendable {
  /// `p-` and 8 hex digits.
  package var id: String
  package var networkName: String
  package var extendedPANID: String
  package var channel: UInt16?
  /// Seconds; nil where it is damaged.
  package var activeTimestamp: UInt64?
  /// When it was replaced; RFC 3339.
  package var until: String

  package init(
    id: String, networkName: String, extendedPANID: String, channel: UInt16?, activeTimestamp: UInt64?, until: String
  ) {
    self.id = id
    self.networkName = networkName
    self.extendedPANID = extendedPANID
    self.channel = channel
    self.activeTimestamp = activeTimestamp
    self.until = until
  }

  package enum CodingKeys: String, CodingKey {
    case id
    case networkName = "network_name"
    case extendedPANID = "ext_pan_id"
    case channel
    case activeTimestamp = "active_timestamp"
    case until
  }
}
