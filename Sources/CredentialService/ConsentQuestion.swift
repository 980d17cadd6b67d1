// SPDX-License-Identifier: Apache-2.0

import ThreadDataset
import ThreadRequests

/// What a person is asked: may this requester be told that?
package struct ConsentQuestion: Hashable, Sendable {
  /// Credentials that would be told. What is agreed to are these, and none of another name or team.
  ///
  /// The ledger's `ConsentNetwork` is what becomes of it in the store. That one has a form on disk, which
  /// must not change with a question; and neither of the two modules knows the other, so that a ledger has
  /// no opinion about credentials, and the service none about who is asked.
  package struct Network: Sendable {
    package let network: ExtendedPANID
    package let name: String
    /// Who has stored them; nil: they are those of the home's preferred network.
    package let team: String?
    /// Of the Network Key that would be told: another key is another question.
    package let keyFingerprint: String?

    package init(
      network: ExtendedPANID, name: String, team: String? = nil, keyFingerprint: String?
    ) {
      self.network = network
      self.name = name
      self.team = team
      self.keyFingerprint = keyFingerprint
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

/// Byte by byte: texts that only look the same are two.
extension ConsentQuestion.Network: Hashable {
  package static func == (a: Self, b: Self) -> Bool {
    a.network == b.network && a.name.utf8.elementsEqual(b.name.utf8)
      && a.team.map { Array($0.utf8) } == b.team.map { Array($0.utf8) }
      && a.keyFingerprint == b.keyFingerprint
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(network)
    for byte in name.utf8 { hasher.combine(byte) }
  }
}
