// SPDX-License-Identifier: Apache-2.0

import ThreadDataset
import ThreadkeeperSupport

/// The border router that would be given credentials, where the requester does not ask for itself.
package struct ConsentRouter: Sendable {
  package let agent: BorderAgentID
  /// What people call it; any login may choose it, so it is for people to read only.
  package let name: String?
  /// The name of the network that it is on.
  package let networkName: String

  package init(agent: BorderAgentID, name: String?, networkName: String) {
    self.agent = agent
    self.name = name
    self.networkName = networkName
  }
}

extension ConsentRouter: CustomStringConvertible {
  /// `a1b2c3d4e5f60718 "Living room"`; the id alone where the name shows nothing.
  package var description: String {
    [agent.description, name.flatMap { ShownName.quoted($0) }].compactMap(\.self)
      .joined(separator: " ")
  }
}

extension ConsentRouter: Hashable {}

extension ConsentRouter: Codable {
  enum CodingKeys: String, CodingKey {
    case agent = "border_agent_id"
    case name = "router_name"
    case networkName = "network_name"
  }

  package init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    guard let agent = BorderAgentID(hex: try fields.decode(String.self, forKey: .agent)) else {
      throw DecodingError.dataCorruptedError(
        forKey: .agent, in: fields, debugDescription: "not a border agent id")
    }
    self.init(
      agent: agent, name: try fields.decodeIfPresent(String.self, forKey: .name),
      networkName: try fields.decode(String.self, forKey: .networkName))
  }

  package func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(agent.description, forKey: .agent)
    try fields.encodeIfPresent(name, forKey: .name)
    try fields.encode(networkName, forKey: .networkName)
  }
}
