import Broker
import Home
import HomeStore

/// What Home Assistant is asked.
extension RequestRules {
  /// The questions that Home Assistant's login may decide, as many as can have buttons: those that end first.
  ///
  /// - Parameter team: of the login.
  package func asked(in home: Home, team: (ExactName) -> ExactName, at now: WireTime) -> [ConsentQuestion] {
    guard let login = decidingLogin(in: home) else { return [] }
    let approver = ConsentApprover.login(login, team: team(login))
    let asked = home.waitingQuestions(at: now).lazy.filter {
      (homeAssistant == .all || $0.subject.command.isForHomeAssistant) && home.mayApprove($0, approver)
    }
    return Array(asked.prefix(HomeAssistantButton.mostRequests))
  }

  /// The networks that Home Assistant's login may prefer: those that routers are on, while none is preferred.
  package func choices(in home: Home) -> [NetworkView] {
    guard home.preferred == nil, decidingLogin(in: home) != nil else { return [] }
    return Array(home.networks.lazy.filter { $0.routers > 0 }.prefix(HomeAssistantButton.mostChoices))
  }

  /// Since when the keys are preferred that Home Assistant's login may keep: while they are disputed.
  package func disputedKeys(in home: Home) -> WireTime? { decidingLogin(in: home).flatMap { _ in home.disputedKeys } }

  /// Nil where nothing is decided through Home Assistant, also because what its login says in plaintext counts for
  /// nothing.
  private func decidingLogin(in home: Home) -> ExactName? {
    guard homeAssistant != nil, let homeAssistantLogin, home.clients[homeAssistantLogin]?.trust != .signed else {
      return nil
    }
    return homeAssistantLogin
  }
}
