// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import ClientEnrolment
import SealedEnvelope
import VarlinkSocket

/// `io.threadkeeper.Clients`: the keys of users of the broker.
package enum ClientsMethods {
  private static let interface = VarlinkInterface.clients.name

  package static let enroll = VarlinkMethod<Enrolment, EnrolmentReport>(
    interface, "Enroll", for: .owner)
  package static let list = VarlinkMethod<Home, EnrolmentReport>(interface, "List", for: .reader)
  package static let revoke = VarlinkMethod<Revocation, VarlinkNothing>(
    interface, "Revoke", for: .owner)

  package struct Enrolment: Codable, Sendable {
    package var home: String
    package var user: String
    package var line: String
    package var trust: EnrolledClient.Trust?
    package var label: String?

    package init(
      home: String, user: String, line: String, trust: EnrolledClient.Trust? = nil,
      label: String? = nil
    ) {
      self.home = home
      self.user = user
      self.line = line
      self.trust = trust
      self.label = label
    }
  }

  package struct Home: Codable, Sendable {
    /// Nil for all.
    package var home: String?

    package init(_ home: String?) { self.home = home }
  }

  package struct Revocation: Codable, Sendable {
    package var home: String
    package var user: String
    /// Nothing is kept of it.
    package var forgets: Bool?

    package init(home: String, user: String, forgets: Bool) {
      self.home = home
      self.user = user
      self.forgets = forgets
    }
  }
}

/// What comes of a method; each has its own part of it. Also what the commands print with `--json`.
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
  /// Users whose keys were revoked, and whose word in plaintext is not believed either.
  package var revoked: [String]?
  /// `enrolled` or `updated`.
  package var change: String?
  /// The daemon's own keys; nil before the first enrolment.
  package var daemon: PublicKeysReport?
}

/// What is public of a client's or the daemon's keys.
package struct PublicKeysReport: Codable, Sendable {
  package var line: String
  package var fingerprint: String
  package var keyFile: String?

  package init(_ keys: PublicIdentity, keyFile: String? = nil) {
    line = keys.line
    fingerprint = keys.fingerprint
    self.keyFile = keyFile
  }
}

extension PublicIdentity {
  /// An enrolment line of the command line.
  ///
  /// - Parameter whose: for the words.
  package static func argument(_ line: String, whose: String) throws(CommandFailure)
    -> PublicIdentity
  {
    do throws(EnrolmentLineError) {
      return try PublicIdentity(line: line)
    } catch {
      throw CommandFailure(
        .usage, "\(whose): \(error.message)",
        remedy: "the first line that `threadkeeper client keygen` prints is one, "
          + "`threadkeeper clients list` has the daemon's")
    }
  }
}
