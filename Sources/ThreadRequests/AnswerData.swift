// SPDX-License-Identifier: Apache-2.0

/// What a request comes to: the fields that its command has, see docs/reference/mqtt-protocol.md.
package struct AnswerData: Codable, Hashable, Sendable {
  /// What a store has changed.
  package enum Change: String, Codable, Sendable {
    case stored, updated, unchanged
  }

  /// How a dataset compares with the preferred network.
  package enum Check: String, Codable, Sendable {
    case match, mismatch
    /// There is no preferred network, or its credentials are not here.
    case none
  }

  // Of `ping`.
  /// RFC 3339.
  package var time: String?
  package var version: String?
  // Of `credentials/store`.
  package var change: Change?
  /// The stored dataset against the preferred network.
  package var preferred: Check?
  // Of `credentials/delete`.
  package var deleted: Bool?
  // Of all that return credentials.
  package var credentials: [CredentialRecord]?
  /// Border agent ids of which something is stored that cannot be opened. Of the lists.
  package var damaged: [String]?
  // Of `preferred/available`, and of `preferred/set` where the credentials of the network are not here.
  package var available: Bool?
  // Of `preferred/check`.
  package var result: Check?
  /// Names of the essential parameters that differ.
  package var differs: [String]?
  // Of `preferred/set`.
  package var changed: Bool?
  // Of `networks/forget`, and of `preferred/forget` what is kept from now on.
  package var forgotten: [FormerNetworkRecord]?
  /// Border agent ids of which credentials of the network stay. Of `networks/forget`.
  package var remaining: [String]?
  // Of `consent/pending`.
  package var pending: [WaitingQuestion]?
  // Of the lists, as they are published.
  package var routers: [JSONValue]?
  package var networks: [JSONValue]?
  package var alerts: [JSONValue]?
  /// In place of all the others.
  package var sealed: SealedText?

  package init() {}

  package init(sealed: SealedText) {
    self.sealed = sealed
  }

  package init(credentials: [CredentialRecord]) {
    self.credentials = credentials
  }

  /// Whether it holds what nobody but the requester may see.
  package var isSecret: Bool { credentials?.contains { $0.dataset != nil } ?? false }

  package var json: [UInt8] { RequestJSON.encode(self) }
}
