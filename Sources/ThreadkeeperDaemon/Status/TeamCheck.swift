// SPDX-License-Identifier: Apache-2.0

import Bridge
import ClientEnrolment
import KeychainCore
import Logging
import Settings
import ThreadCredentialStore

/// Teams for which nobody can speak any more: for the log at the start, and for `status`.
package struct TeamCheck: Codable {
  /// A border agent id whose team is gone. Its router is refused, whoever announces it.
  package struct AbandonedID: Codable, Equatable {
    package let home: String
    package let borderAgentId: String
    package let team: String
  }

  /// Teams of the settings without a user.
  package let empty: [String]
  package let abandonedIds: [AbandonedID]

  init(_ settings: Settings, _ registry: BridgeRegistry, _ keychain: Keychain) throws {
    empty = settings.emptyTeams
    let store = ThreadCredentialStore(keychain)
    let homes = try registry.homes().map { home in
      (
        home.name, try registry.users(in: home),
        try keychain.database.read { try store.owners(in: home.name, $0) }
      )
    }
    let seen = Set(homes.flatMap { $0.1.values })
    abandonedIds = homes.flatMap { home, users, owners in
      owners.filter { agent, team in
        settings.isAbandoned(team, lastLogin: users[agent], seen: seen)
      }.map { AbandonedID(home: home, borderAgentId: $0.key.description, team: $0.value) }
        .sorted { $0.borderAgentId < $1.borderAgentId }
    }
  }

  package func log(to logger: Logger) {
    for team in empty {
      logger.warning(
        "no user belongs to a team of the settings",
        metadata: ["team": "\(team)", "remedy": "list a user in `teams`, or delete the team"])
    }
    for (team, ids) in Dictionary(grouping: abandonedIds, by: \.team).sorted(by: { $0.key < $1.key }
    ) {
      logger.warning(
        "border agent ids belong to a team that nobody speaks for",
        metadata: [
          "team": "\(team)", "count": "\(ids.count)", "border_agent_id": "\(ids[0].borderAgentId)",
          "remedy": "\(Self.remedy(ids[0].borderAgentId))",
        ])
    }
  }

  /// What to do about a border agent id whose team is gone.
  package static func remedy(_ agent: String) -> String {
    "run `threadkeeper routers remove \(agent)`: the next login that announces it owns it"
  }
}

/// Says at the start, by name, which users in `consent.approvers` have no say, who else has theirs, and who decides
/// through Home Assistant.
struct ApproverNotice: Sendable {
  private let settings: Settings
  private let enrolments: ClientEnrolmentStore

  init(_ settings: Settings, enrolments: ClientEnrolmentStore) {
    self.settings = settings
    self.enrolments = enrolments
  }

  func log(to logger: Logger) {
    let all = try? enrolments.keychain.database.read { try enrolments.all($0).clients }
    guard let clients = all else { return }
    noteHomeAssistant(clients, to: logger)
    // Home Assistant's decides unsigned, whatever `approvers_trust` says: that is said above.
    for user in settings.consent.approvers where !settings.homeAssistant.isApprover(user) {
      let own = clients.filter { $0.user.utf8.elementsEqual(user.utf8) }
      switch settings.consent.approversTrust {
      case .signed:
        say(
          .warning, "an approver is not enrolled, and decides nothing", of: user,
          in: homes { home in !own.contains { $0.home == home && !$0.isRevoked } }, to: logger)
      case .broker:
        // Also of a revoked one with this trust nothing counts that is in plaintext.
        say(
          .notice, "an approver is believed in plaintext, and so is whoever can publish as it",
          of: user, in: homes { home in !own.contains { $0.home == home && $0.trust == .signed } },
          to: logger)
      }
    }
  }

  private func noteHomeAssistant(_ clients: [EnrolledClient], to logger: Logger) {
    guard let login = settings.homeAssistant.approver else { return }
    let own = clients.filter { $0.user.utf8.elementsEqual(login.utf8) && $0.trust == .signed }
    let deaf = homes { home in own.contains { $0.home == home } }
    if !deaf.isEmpty {
      logger.warning(
        "Home Assistant's login is enrolled with the trust signed, and its buttons decide nothing",
        metadata: [
          "user": "\(login)", "home": "\(deaf.joined(separator: ", "))",
          "remedy": "threadkeeper clients enroll, with --trust broker, or another login",
        ])
    }
    let others = homes { !deaf.contains($0) }
    guard !others.isEmpty else { return }
    logger.notice(
      "Home Assistant is believed in plaintext, and so is whoever can publish as it",
      metadata: [
        "user": "\(login)", "home": "\(others.joined(separator: ", "))",
        "decides": settings.homeAssistant.consent == .all
          ? "every request for network keys"
          : "whether an enrolled router gets the preferred credentials",
        "remedy": "an access list by threadkeeper acl, or home_assistant.consent: off",
      ])
  }

  private func homes(where isMeant: (String) -> Bool) -> [String] {
    settings.homes.map(\.name).filter(isMeant)
  }

  private func say(
    _ level: Logger.Level, _ words: Logger.Message, of user: String, in homes: [String],
    to logger: Logger
  ) {
    guard !homes.isEmpty else { return }
    logger.log(
      level: level, words,
      metadata: [
        "user": "\(user)", "home": "\(homes.joined(separator: ", "))",
        "remedy": "threadkeeper clients enroll, with --trust signed",
      ])
  }
}
