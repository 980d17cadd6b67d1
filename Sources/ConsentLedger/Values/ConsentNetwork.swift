// SPDX-License-Identifier: Apache-2.0

import ThreadDataset

/// A network whose credentials are asked for.
package struct ConsentNetwork: Sendable, Hashable {
  /// What makes it this network: a decision holds for it and for no other.
  package let id: ExtendedPANID
  /// For people.
  package let name: String

  package init(id: ExtendedPANID, name: String) {
    self.id = id
    self.name = name
  }
}

extension ConsentNetwork: Codable {
  enum CodingKeys: String, CodingKey {
    case id = "ext_pan_id"
    case name = "network_name"
  }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let hex = try container.decode(String.self, forKey: .id)
    guard let id = ExtendedPANID(hex: hex) else {
      throw DecodingError.dataCorruptedError(
        forKey: .id, in: container, debugDescription: "not an Extended PAN ID")
    }
    self.init(id: id, name: try container.decode(String.self, forKey: .name))
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(id.description, forKey: .id)
    try container.encode(name, forKey: .name)
  }
}
