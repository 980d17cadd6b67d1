// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import ClientEnrolment

/// What `clients …` asks of the daemon that holds the store. See docs/reference/daemon-socket.md.
package struct EnrolmentRequest: DaemonRequest {
  package typealias Report = EnrolmentReport

  package enum Command: String, Codable, CaseIterable, Sendable {
    case enroll = "clients/enroll"
    case list = "clients/list"
    case revoke = "clients/revoke"
    case fingerprint = "clients/fingerprint"
  }

  package var v = DaemonRequestVersion.current
  package var command: Command
  /// Of `list`: nil for all.
  package var home: String?
  /// Of `fingerprint`: nil for the daemon.
  package var user: String?
  package var line: String?
  package var trust: EnrolledClient.Trust?
  package var label: String?
  /// Of `revoke`: nothing is kept of it.
  package var forgets: Bool?

  package init(
    command: Command, home: String? = nil, user: String? = nil, line: String? = nil,
    trust: EnrolledClient.Trust? = nil, label: String? = nil, forgets: Bool? = nil
  ) {
    self.command = command
    self.home = home
    self.user = user
    self.line = line
    self.trust = trust
    self.label = label
    self.forgets = forgets
  }
}

/// What comes of it.
package struct EnrolmentReport: Codable, Sendable {
  package struct Client: Codable, Sendable {
    package var home: String
    package var user: String
    package var trust: String
    package var label: String
    package var fingerprint: String
    package var line: String
    /// RFC 3339.
    package var enrolledAt: String
    var enrolledBy: String

    package init(_ client: EnrolledClient) {
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

  package var clients: [Client]?
  /// Users whose enrolment is damaged.
  package var damaged: [String]?
  /// Users whose keys were revoked, and whose word in clear is not believed either.
  package var revoked: [String]?
  /// `enrolled` or `updated`.
  package var change: String?
  package var keeper: PublicKeysReport?
}
