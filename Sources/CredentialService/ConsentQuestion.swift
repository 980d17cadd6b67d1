// SPDX-License-Identifier: Apache-2.0

import ThreadDataset
import ThreadRequests

/// What a person is asked: may this requester be told that?
package struct ConsentQuestion: Hashable, Sendable {
  /// Credentials that would be told. What is agreed to are these, and none of another name or team.
  package struct Network: Sendable {
    package let network: ExtendedPANID
    package let name: String
    /// Who has stored them; nil: they are those of the home's preferred network.
    package let team: String?

    package init(network: ExtendedPANID, name: String, team: String? = nil) {
      self.network = network
      self.name = name
      self.team = team
    }
  }

  /// Who asks, for whom, where and when, and where the answer goes.
  package var context: RequestContext
  /// What is fulfilled when somebody agrees.
  package var request: ThreadRequest
  /// Each once, the preferred one first; never empty.
  package var networks: [Network]

  package init(context: RequestContext, request: ThreadRequest, networks: [Network]) {
    self.context = context
    self.request = request
    self.networks = networks
  }
}

/// As JSON it can wait in the store. It holds no secret: what would be told is looked up when somebody
/// has agreed.
extension ConsentQuestion: Codable {
  private enum CodingKeys: String, CodingKey {
    case context, command, fields, networks
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(context, forKey: .context)
    try container.encode(request.command.rawValue, forKey: .command)
    try container.encode(request.fields, forKey: .fields)
    try container.encode(networks, forKey: .networks)
  }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    guard
      let command = RequestCommand(rawValue: try container.decode(String.self, forKey: .command))
    else {
      throw DecodingError.dataCorruptedError(
        forKey: .command, in: container, debugDescription: "not a command")
    }
    self.init(
      context: try container.decode(RequestContext.self, forKey: .context),
      request: try ThreadRequest(command, container.decode(RequestFields.self, forKey: .fields)),
      networks: try container.decode([Network].self, forKey: .networks))
  }
}

/// Octet by octet: texts that only look the same are two.
extension ConsentQuestion.Network: Hashable {
  package static func == (a: Self, b: Self) -> Bool {
    a.network == b.network && a.name.utf8.elementsEqual(b.name.utf8)
      && a.team.map { Array($0.utf8) } == b.team.map { Array($0.utf8) }
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(network)
    for octet in name.utf8 { hasher.combine(octet) }
  }
}

extension ConsentQuestion.Network: Codable {
  private enum CodingKeys: String, CodingKey {
    case network = "ext_pan_id"
    case name = "network_name"
    case team
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(network.description, forKey: .network)
    try container.encode(name, forKey: .name)
    try container.encodeIfPresent(team, forKey: .team)
  }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    guard let network = ExtendedPANID(hex: try container.decode(String.self, forKey: .network))
    else {
      throw DecodingError.dataCorruptedError(
        forKey: .network, in: container, debugDescription: "not an Extended PAN ID")
    }
    self.init(
      network: network, name: try container.decode(String.self, forKey: .name),
      team: try container.decodeIfPresent(String.self, forKey: .team))
  }
}
