// SPDX-License-Identifier: Apache-2.0

import ThreadDataset

/// What is asked for.
package struct ConsentSubject: Sendable, Codable, Hashable {
  package let home: String
  /// The command as the protocol has it: `preferred/get`.
  package let command: String
  /// The networks whose credentials would be given, each once: first the preferred one, then in the
  /// order of their ids and names. One, but for `networks/nearby`.
  package let networks: [ConsentNetwork]

  package init(home: String, command: String, networks: [ConsentNetwork]) {
    self.home = home
    self.command = command
    self.networks = Set(networks).sorted { $0.order.lexicographicallyPrecedes($1.order) }
  }

  /// Where one network is asked for.
  package var onlyNetwork: ExtendedPANID? { networks.count == 1 ? networks[0].id : nil }

  /// The same question, in all that a person is told of it.
  package func isSame(as other: ConsentSubject) -> Bool {
    home == other.home && command == other.command && Set(networks) == Set(other.networks)
  }
}

extension ConsentNetwork {
  /// The preferred network first, which nothing with a lower id shall hide.
  fileprivate var order: [UInt8] {
    [team == nil ? 0 : 1] + id.octets + name.utf8 + [0] + (team ?? "").utf8
  }
}

extension ConsentSubject: CustomStringConvertible {
  private static let named = 5

  /// The networks for people: `home-thread (1111111122222222)`. Of many, the first ones.
  package var networkNames: String {
    let shown = networks.prefix(Self.named).map(\.description)
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
