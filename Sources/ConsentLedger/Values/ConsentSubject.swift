// SPDX-License-Identifier: Apache-2.0

import ThreadDataset

/// What is asked for.
package struct ConsentSubject: Sendable, Codable, Hashable {
  package let home: String
  /// The command as the protocol has it: `preferred/get`.
  package let command: String
  /// The networks whose credentials would be given, each once, in the order of their ids. One, but for
  /// `networks/nearby`.
  package let networks: [ConsentNetwork]

  package init(home: String, command: String, networks: [ConsentNetwork]) {
    self.home = home
    self.command = command
    var seen: Set<ExtendedPANID> = []
    self.networks =
      networks
      .filter { seen.insert($0.id).inserted }
      .sorted { $0.id.octets.lexicographicallyPrecedes($1.id.octets) }
  }

  /// Where one network is asked for.
  package var onlyNetwork: ExtendedPANID? { networks.count == 1 ? networks[0].id : nil }

  package var networkIDs: Set<ExtendedPANID> { Set(networks.map(\.id)) }

  /// The same question, whatever the networks are called by now.
  package func isSame(as other: ConsentSubject) -> Bool {
    home == other.home && command == other.command && networkIDs == other.networkIDs
  }
}

extension ConsentSubject: CustomStringConvertible {
  private static let named = 5

  /// The networks for people: `home-thread (1111111122222222)`. Of many, the first ones.
  package var networkNames: String {
    let shown = networks.prefix(Self.named).map { "\($0.name) (\($0.id))" }
    let more = networks.count - shown.count
    return shown.joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
  }

  /// The names alone, for templates: `home-thread`.
  package var names: String {
    let shown = networks.prefix(Self.named).map(\.name).joined(separator: ", ")
    return networks.count > Self.named ? shown + ", …" : shown
  }

  package var description: String { "\(command) \(networkNames), home \(home)" }
}
