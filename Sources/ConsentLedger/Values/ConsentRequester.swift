// SPDX-License-Identifier: Apache-2.0

import ThreadkeeperSupport

/// Who asks for credentials.
package struct ConsentRequester: Sendable, Codable, Hashable {
  /// What is checked, not claimed: the broker's access list vouches for a login, the kernel for a user.
  package let identity: Requester
  /// The team that the requester spoke for when it asked.
  package let team: String
  /// The name that the system had for a user of this machine. Nil where it had none, and for a login of the broker.
  package let userName: String?
  /// What a program of this machine calls itself. Anybody can choose it: for people to read only.
  package let program: String?
  /// Of the key that answers are sealed to, as `clients list` prints it. Nil on this machine, where
  /// nothing is sealed.
  package let fingerprint: String?

  package init(
    _ identity: Requester, team: String, userName: String? = nil, program: String? = nil,
    fingerprint: String? = nil
  ) {
    self.identity = identity
    self.team = team
    self.userName = userName
    self.program = program
    self.fingerprint = fingerprint
  }

  /// Whether the two are one party, whatever the program calls itself, and whichever key it has.
  package func isSameParty(as other: ConsentRequester) -> Bool {
    identity == other.identity && team.utf8.elementsEqual(other.team.utf8)
  }

  /// Whether what was agreed to for the one holds for the other. Not for who has got another key: a person
  /// has agreed to whom the answer is sealed to.
  package func isSame(as other: ConsentRequester) -> Bool {
    isSameParty(as: other) && fingerprint == other.fingerprint
  }
}

extension PendingConsent {
  /// Who asks, in few words, what was checked of it first: `user bob`, `otbr "Attic"` for a login.
  package var shortRequester: String {
    let router = subject.router.flatMap { $0.name.flatMap { ShownName.quoted($0) } }
    return requester.shortName + (router.map { " \($0)" } ?? "")
  }
}

extension ConsentRequester {
  fileprivate var shortName: String {
    switch identity {
    case .mqttUser(let name): ShownName.account(name)
    case .systemUser(let number):
      userName.map { "user \(ShownName.account($0))" } ?? "uid \(number)"
    }
  }
}

extension ConsentRequester: CustomStringConvertible {
  /// `login phone (team phones)`, `user bob (uid 1003, team bob), program calls itself "ha"`. What was checked
  /// comes first, and what the program claims is quoted.
  package var description: String {
    let team = "team \(ShownName.account(team))"
    switch identity {
    case .mqttUser(let name): return "login \(ShownName.account(name)) (\(team))"
    case .systemUser(let number):
      let user =
        userName.map { "user \(ShownName.account($0)) (uid \(number), \(team))" }
        ?? "uid \(number) (\(team))"
      let claim = program.flatMap { ShownName.quoted($0) }.map { ", program calls itself \($0)" }
      return user + (claim ?? "")
    }
  }
}
