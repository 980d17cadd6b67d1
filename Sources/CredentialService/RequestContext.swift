// SPDX-License-Identifier: Apache-2.0

import ConsentLedger
import FoundationEssentials

/// All that is to be known of a request beside what it says.
package struct RequestContext: Hashable, Sendable {
  /// Seconds for which an answer is of use, unless the requester waits for less.
  package static let longestTimeout = 30

  package var requester: Requester
  /// Whose credentials are the requester's own.
  package var team: String
  package var home: String
  package var reply: ReplyAddress
  package var now: Date
  /// Whether it came sealed, and signed with the keys that are enrolled for the requester.
  package var isSigned = false
  /// The name that the system has for a user of this machine.
  package var userName: String?
  /// What a program of this machine calls itself: for people to read only.
  package var program: String?
  /// The daemon's own user, by a command: may delete and prefer whatever any team has stored.
  package var isAdministrator = false
  /// What an administrator asks with, for the audit; nil: a command.
  package var administrator: String?
  /// A person who decides about consent over MQTT: may choose the preferred network, too.
  package var isApprover = false
  /// Whether lists hold what is secret: they do for a program on this machine, of its own team.
  package var listsSecrets = false
  /// Whether the requester has a way to be told a secret at all.
  package var canReceiveSecrets = true
  /// The fingerprint of the key that secrets are sealed to; nil where nothing is sealed.
  package var fingerprint: String?
  /// Seconds for which an answer is of use.
  package var timeout = Self.longestTimeout
  /// The most entries of a list; nil: any number.
  package var mostEntries: Int?
  /// The most bytes of JSON that an answer with secrets may have; nil: any number.
  package var mostSecretBytes: Int?
  /// Of the program, for `ping`.
  package var version = ""

  /// Whether a person asks, who may choose whatever any team has stored.
  package var choosesPreferred: Bool { isAdministrator || isApprover }

  /// Who is named in the audit.
  package var actor: String {
    if isAdministrator, case .systemUser(let number) = requester {
      return administrator ?? "command of user \(number)"
    }
    return requester.words
  }

  package init(
    requester: Requester, team: String, home: String, reply: ReplyAddress = .caller,
    now: Date = Date()
  ) {
    self.requester = requester
    self.team = team
    self.home = home
    self.reply = reply
    self.now = now
  }
}
