import Bridge
import Home
import HomeStore
import Logging
import Settings
import ThreadDataset

/// For the log at the start, and for `status`.
extension DaemonStatus.Teams {
  init(_ settings: Settings, _ snapshot: HomeSnapshot) {
    self.init()
    empty = settings.emptyTeams
    let homes = snapshot.inOrder(of: settings)
    let seen = Set(homes.flatMap { $0.home.users.map(\.text) })
    abandoned = homes.flatMap { name, home in
      home.owners.filter { settings.isAbandoned($0.team, lastLogin: $0.user, seen: seen) }.map {
        AbandonedID(home: name, agent: $0.agent.description, team: $0.team)
      }.sorted { $0.agent < $1.agent }
    }
  }

  func log(to logger: Logger) {
    for team in empty {
      logger.warning(
        "no user belongs to a team of the settings",
        metadata: ["team": "\(team)", "remedy": "list a user in `teams`, or delete the team"])
    }
    for (team, ids) in Dictionary(grouping: abandoned, by: \.team).sorted(by: { $0.key < $1.key }) {
      logger.warning(
        "border agent ids belong to a team that nobody speaks for",
        metadata: [
          "team": "\(team)", "count": "\(ids.count)", "border_agent_id": "\(ids[0].agent)",
          "remedy": "\(Self.remedy(ids[0].agent))",
        ])
    }
  }

  /// What to do about a border agent id whose team is gone.
  static func remedy(_ agent: String) -> String {
    "run `threadkeeper routers remove \(agent)`: the next login that announces it owns it"
  }
}

/// Says at the start, by name, which users in `consent.approvers` have no say, who else has theirs, and who decides
/// through Home Assistant.
struct ApproverNotice {
  let settings: Settings
  let snapshot: HomeSnapshot

  func log(to logger: Logger) {
    noteHomeAssistant(to: logger)
    // Home Assistant's decides unsigned, whatever `approvers_trust` says: that is said above.
    for user in settings.consent.approvers where !settings.homeAssistant.isApprover(user) {
      switch settings.consent.approversTrust {
      case .signed:
        say(
          .warning, "an approver is not enrolled, and decides nothing", of: user,
          in: homes(of: user) { $0?.isRevoked != false }, to: logger)
      case .broker:
        // Also of a revoked one with this trust nothing counts that is in plaintext.
        say(
          .notice, "an approver is believed in plaintext, and so is whoever can publish as it", of: user,
          in: homes(of: user) { $0?.trust != .signed }, to: logger)
      }
    }
  }

  private func noteHomeAssistant(to logger: Logger) {
    guard let login = settings.homeAssistant.approver else { return }
    let deaf = homes(of: login) { $0?.trust == .signed }
    if !deaf.isEmpty {
      logger.warning(
        "Home Assistant's login is enrolled with the trust signed, and its buttons decide nothing",
        metadata: [
          "user": "\(login)", "home": "\(deaf.listed)",
          "remedy": "threadkeeper clients enroll, with --trust broker, or another login",
        ])
    }
    let others = homes(of: login) { $0?.trust != .signed }
    guard !others.isEmpty else { return }
    logger.notice(
      "Home Assistant is believed in plaintext, and so is whoever can publish as it",
      metadata: [
        "user": "\(login)", "home": "\(others.listed)",
        "decides": settings.homeAssistant.consent == .all
          ? "every request for network keys" : "whether an enrolled router gets the preferred credentials",
        "remedy": "an access list by threadkeeper acl, or home_assistant.consent: off",
      ])
  }

  /// Names of the homes in which the enrolment of a user is as asked for.
  private func homes(of user: String, where isMeant: (EnrolledClient?) -> Bool) -> [String] {
    snapshot.inOrder(of: settings).filter { isMeant($0.home.clients[ExactName(user)]) }.map(\.name)
  }

  private func say(
    _ level: Logger.Level, _ words: Logger.Message, of user: String, in homes: [String], to logger: Logger
  ) {
    guard !homes.isEmpty else { return }
    logger.log(
      level: level, words,
      metadata: [
        "user": "\(user)", "home": "\(homes.listed)", "remedy": "threadkeeper clients enroll, with --trust signed",
      ])
  }
}
