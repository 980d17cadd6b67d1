// SPDX-License-Identifier: Apache-2.0

import ThreadDataset
import ThreadkeeperSupport

/// Credentials that are asked for, as they are shown to a person: a decision holds for just these. Anybody
/// can store a network under an Extended PAN ID that is on the air, so the id alone names nothing.
package struct ConsentNetwork: Sendable {
  package let id: ExtendedPANID
  package let name: String
  /// Who has stored them; nil: they are those of the home's preferred network.
  package let team: String?
  /// Stands for the Network Key that would be given, and reveals nothing of it. Nil in reports.
  package let keyFingerprint: String?

  package init(
    id: ExtendedPANID, name: String, team: String? = nil, keyFingerprint: String? = nil
  ) {
    self.id = id
    self.name = name
    self.team = team
    self.keyFingerprint = keyFingerprint
  }

  /// The same network, whatever its Network Key.
  package var withoutKey: ConsentNetwork { ConsentNetwork(id: id, name: name, team: team) }
}

extension ConsentNetwork: CustomStringConvertible {
  /// `"home-thread" (1111111122222222)`, `"attic" (3333333344444444, stored by team hub)`.
  package var description: String {
    let owner = team.map { ", stored by team \(ShownName.account($0))" } ?? ""
    return "\(ShownName.quoted(name) ?? "a network without a name") (\(id)\(owner))"
  }
}

/// Byte by byte: texts that only look the same are two.
extension ConsentNetwork: Hashable {
  package static func == (a: Self, b: Self) -> Bool {
    a.id == b.id && a.name.utf8.elementsEqual(b.name.utf8)
      && a.team.map { Array($0.utf8) } == b.team.map { Array($0.utf8) }
      && a.keyFingerprint == b.keyFingerprint
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(id)
    for byte in name.utf8 { hasher.combine(byte) }
  }
}

extension ConsentNetwork: Codable {
  enum CodingKeys: String, CodingKey {
    case id = "ext_pan_id"
    case name = "network_name"
    case team
    case keyFingerprint = "key_fingerprint"
  }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let hex = try container.decode(String.self, forKey: .id)
    guard let id = ExtendedPANID(hex: hex) else {
      throw DecodingError.dataCorruptedError(
        forKey: .id, in: container, debugDescription: "not an Extended PAN ID")
    }
    self.init(
      id: id, name: try container.decode(String.self, forKey: .name),
      team: try container.decodeIfPresent(String.self, forKey: .team),
      keyFingerprint: try container.decodeIfPresent(String.self, forKey: .keyFingerprint))
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(id.description, forKey: .id)
    try container.encode(name, forKey: .name)
    try container.encodeIfPresent(team, forKey: .team)
    try container.encodeIfPresent(keyFingerprint, forKey: .keyFingerprint)
  }
}
