// SPDX-License-Identifier: Apache-2.0

import ThreadDataset
import ThreadkeeperSupport

/// What is asked for.
package struct ConsentSubject: Sendable, Codable, Hashable {
  package let home: String
  /// The command as the protocol has it: `preferred/get`.
  package let command: String
  /// The networks whose credentials would be given, each once: first the preferred one, then in the
  /// order of their ids and names. One, but for `networks/nearby`.
  package let networks: [ConsentNetwork]
  /// Nil: the requester asks for itself. A grant names none: it is for all routers of its requester.
  package let router: ConsentRouter?

  package init(
    home: String, command: String, networks: [ConsentNetwork], router: ConsentRouter? = nil
  ) {
    self.home = home
    self.command = command
    self.router = router
    self.networks = Set(networks).sorted { $0.order.lexicographicallyPrecedes($1.order) }
  }

  /// Whether an enrolled router would be given the preferred network's credentials, sealed to it.
  package var isAdoption: Bool { router != nil && command == "dataset/set" }

  /// Where one network is asked for.
  package var onlyNetwork: ExtendedPANID? { networks.count == 1 ? networks[0].id : nil }

  /// The same question, in all that is decided by it.
  package func isSame(as other: ConsentSubject) -> Bool {
    home == other.home && command == other.command && Set(networks) == Set(other.networks)
      && router?.agent == other.router?.agent
  }

  /// The same, whatever the network keys are.
  var withoutKeys: ConsentSubject {
    ConsentSubject(
      home: home, command: command, networks: networks.map(\.withoutKey), router: router)
  }

  /// The same for every router.
  var ofAnyRouter: ConsentSubject {
    ConsentSubject(home: home, command: command, networks: networks)
  }
}

extension ConsentNetwork {
  /// The preferred network first, which nothing with a lower id shall hide.
  fileprivate var order: [UInt8] {
    [team == nil ? 0 : 1] + id.bytes + name.utf8 + [0] + (team ?? "").utf8 + [0]
      + (keyFingerprint ?? "").utf8
  }
}

extension ConsentSubject: CustomStringConvertible {
  private static let named = 5

  /// The networks for people: `"home-thread" (1111111122222222)`. Of many, the first ones.
  package var networkNames: String {
    let shown = networks.prefix(Self.named).map(\.description)
    let more = networks.count - shown.count
    return shown.joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
  }

  /// The names alone, for templates: `home-thread`.
  package var names: String { listed { ShownName.cleaned($0.name) } }

  /// The names alone, for a sentence: `"home-thread"`.
  var quotedNames: String { listed { ShownName.quoted($0.name) ?? $0.id.description } }

  private func listed(_ name: (ConsentNetwork) -> String) -> String {
    let shown = networks.prefix(Self.named).map(name).joined(separator: ", ")
    return networks.count > Self.named ? shown + ", …" : shown
  }

  package var description: String {
    "\(command) \(networkNames), home \(ShownName.account(home))"
      + (router.map { ", for \($0)" } ?? "")
  }
}
