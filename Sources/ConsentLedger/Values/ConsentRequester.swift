// SPDX-License-Identifier: Apache-2.0

import PersonAtTerminal

/// Who asks for credentials.
package struct ConsentRequester: Sendable, Codable, Hashable {
  /// What is checked, and not just said: the broker's access list vouches for the one, the kernel for
  /// the other.
  package enum Identity: Sendable {
    /// A login of the broker.
    case mqttUser(String)
    /// A user of this machine, by number.
    case systemUser(UInt32)
  }

  package let identity: Identity
  /// The team that the requester spoke for when it asked.
  package let team: String
  /// The name that the system had for a user of this machine. Nil where it had none, for a login of the broker,
  /// and in records of earlier versions.
  package let userName: String?
  /// What a program of this machine calls itself. Anybody can choose it: for people to read only.
  package let program: String?
  /// Of the key that answers are sealed to, as `clients fingerprint` prints it. Nil on this machine, where
  /// nothing is sealed.
  package let fingerprint: String?

  package init(
    _ identity: Identity, team: String, userName: String? = nil, program: String? = nil,
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

extension ConsentRequester: CustomStringConvertible {
  /// `login phone (team phones)`, `user bob (uid 1003, team bob), program calls itself "ha"`. What was checked
  /// comes first, and what the program says of itself is quoted.
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

extension ConsentRequester.Identity: RawRepresentable, Codable, Hashable {
  private static let mqtt = "mqtt/"
  private static let system = "uid/"

  /// As it is stored: `mqtt/phone`, `uid/1000`.
  package var rawValue: String {
    switch self {
    case .mqttUser(let name): Self.mqtt + name
    case .systemUser(let number): "\(Self.system)\(number)"
    }
  }

  package init?(rawValue: String) {
    // Byte by byte: a name may begin with what would join the slash to one Character.
    let bytes = rawValue.utf8
    if bytes.starts(with: Self.mqtt.utf8) {
      self = .mqttUser(String(Substring(bytes.dropFirst(Self.mqtt.utf8.count))))
    } else if bytes.starts(with: Self.system.utf8),
      let number = UInt32(Substring(bytes.dropFirst(Self.system.utf8.count)))
    {
      self = .systemUser(number)
    } else {
      return nil
    }
  }

  /// Byte by byte, as the broker has it: texts that only look the same are two users.
  package static func == (a: Self, b: Self) -> Bool {
    a.rawValue.utf8.elementsEqual(b.rawValue.utf8)
  }

  package func hash(into hasher: inout Hasher) {
    for byte in rawValue.utf8 { hasher.combine(byte) }
  }
}
