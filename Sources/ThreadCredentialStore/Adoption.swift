// SPDX-License-Identifier: Apache-2.0

import ThreadDataset

/// That a border router is to be given the preferred network's credentials: how far it is, and what it is
/// to use. By it credentials are sent out, so it lies under the seal.
///
/// Here, and nowhere else, the preferred credentials are stored for the router until it has reported that it uses
/// them: what is stored as its own is given to its whole team without a question, and a person has agreed
/// to one key of one login.
package struct Adoption: Sendable, Hashable {
  package enum Phase: String, Codable, Sendable {
    /// A person is asked.
    case asked
    /// A person has agreed, and nothing has left for the router yet.
    case agreed
    /// The router is sent the preferred credentials, and has not reported yet that it uses them.
    case sent
    /// It has failed, and no person is asked about the same again.
    case over
  }

  package let home: String
  package let agent: BorderAgentID
  /// Whose key the credentials are sealed to: the broker's user that spoke for the router.
  package var user: String
  /// The fingerprint of the key of that user that counted when the person was asked: another one is
  /// another question.
  package var key: String
  package var phase: Phase
  /// Of the question, or of the grant that made one needless.
  package var consent: String
  /// Names the message, however often it is sent; empty before it is sent first.
  package var id: String
  /// When the router should have answered, counted from when it was sent the message. Milliseconds since 1970.
  package var deadline: Int64
  /// What is to be given.
  package var preferred: OperationalDataset
  /// What the router reports that it uses: what is stored as its own.
  package var reported: OperationalDataset

  package init(
    home: String, agent: BorderAgentID, user: String, key: String, phase: Phase, consent: String,
    id: String = "", deadline: Int64 = 0, preferred: OperationalDataset,
    reported: OperationalDataset
  ) {
    self.home = home
    self.agent = agent
    self.user = user
    self.key = key
    self.phase = phase
    self.consent = consent
    self.id = id
    self.deadline = deadline
    self.preferred = preferred
    self.reported = reported
  }
}
