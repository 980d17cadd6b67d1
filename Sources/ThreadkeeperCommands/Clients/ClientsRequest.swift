// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import ClientEnrolment

/// What `clients …` asks of the keeper that holds the store. See docs/reference/daemon-socket.md.
struct ClientsRequest: KeeperRequest {
  typealias Report = ClientsReport

  enum Command: String, Codable, CaseIterable, Sendable {
    case enroll = "clients/enroll"
    case list = "clients/list"
    case revoke = "clients/revoke"
    case fingerprint = "clients/fingerprint"
  }

  var v = KeeperVersion.current
  var command: Command
  /// Of `list`: nil for all.
  var home: String?
  /// Of `fingerprint`: nil for the keeper.
  var user: String?
  var line: String?
  var trust: EnrolledClient.Trust?
  var label: String?
  /// Of `revoke`: nothing is kept of it.
  var forgets: Bool?
}

/// What comes of it.
struct ClientsReport: Codable, Sendable {
  struct Client: Codable, Sendable {
    var home: String
    var user: String
    var trust: String
    var label: String
    var fingerprint: String
    var line: String
    /// RFC 3339.
    var enrolledAt: String
    var enrolledBy: String

    init(_ client: EnrolledClient) {
      home = client.home
      user = client.user
      trust = client.trust.rawValue
      label = client.label
      fingerprint = client.keys.fingerprint
      line = client.keys.line
      enrolledAt = WireTime(milliseconds: client.enrolledAt * 1000).description
      enrolledBy = client.enrolledBy
    }
  }

  var clients: [Client]?
  /// Users whose enrolment is damaged.
  var damaged: [String]?
  /// Users whose keys were revoked, and whose word in clear is not believed either.
  var revoked: [String]?
  /// `enrolled` or `updated`.
  var change: String?
  var keeper: PublicKeysReport?
}
