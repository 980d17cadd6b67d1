// SPDX-License-Identifier: Apache-2.0

import Broker
import ClientEnrolment
import ConsentLedger
import KeychainCore
import SQLiteDatabase
import ThreadkeeperSupport

/// The questions that wait for a person, and which of them Home Assistant is asked.
struct HomeAssistantQuestions: Sendable {
  private let configuration: BridgeConfiguration
  private let ledger: ConsentLedger
  /// Of its own: it is read seldom, and what other parts remember may be about another transaction.
  private let exchange: EnrolledExchange
  private let now: @Sendable () -> WireTime

  init(
    _ configuration: BridgeConfiguration, _ keychain: Keychain,
    now: @escaping @Sendable () -> WireTime
  ) {
    self.configuration = configuration
    self.now = now
    ledger = ConsentLedger(keychain)
    exchange = EnrolledExchange(ClientEnrolmentStore(keychain))
  }

  /// Whether home names are needed to tell questions apart.
  var namesHomes: Bool { configuration.topics.homes.count > 1 }

  /// What waits in a home, oldest first. Nil where the ledger cannot be read.
  func waiting(in home: String, _ tx: ReadTransaction) -> [PendingConsent]? {
    let waiting = try? ledger.pending(now: now().milliseconds, tx)
    return waiting?.filter { $0.subject.home == home }
  }

  /// The oldest ones that Home Assistant's login may approve, as many as can have buttons.
  func asked(of waiting: [PendingConsent], in home: String, _ tx: ReadTransaction)
    -> [PendingConsent]
  {
    let all = waiting.lazy.filter { configuration.isAsked($0) }
    let oldest = Array(all.prefix(HomeAssistantButton.mostRequests))
    // What the login says in plaintext may count for nothing.
    guard !oldest.isEmpty, let login = configuration.homeAssistant.decidingLogin,
      !exchange.requiresSeal(of: login, in: home, tx)
    else { return [] }
    return oldest
  }

  /// What a decision about it through Home Assistant has to repeat.
  func token(of pending: PendingConsent) -> String {
    configuration.buttonTokens.token(for: pending.id.description)
  }

  /// The same, as buttons say it; none where the ledger cannot be read.
  func asked(in home: String, _ tx: ReadTransaction) -> [HomeAssistantButton.Question] {
    guard let login = configuration.homeAssistant.decidingLogin, let waiting = waiting(in: home, tx)
    else { return [] }
    return asked(of: waiting, in: home, tx).map {
      .init(
        id: $0.id.description, requester: $0.shortRequester, login: login, token: token(of: $0))
    }
  }

  /// What the token of a button is for that prefers a network.
  static func choice(of network: String) -> String { "prefer/\(network)" }

  /// The networks that Home Assistant's login may prefer: those that routers are on, while none is preferred.
  func choices(in home: HomeRecord, _ tx: ReadTransaction) throws -> [HomeAssistantButton.Choice] {
    guard home.preferred == nil, let login = configuration.homeAssistant.decidingLogin,
      !exchange.requiresSeal(of: login, in: home.name, tx)
    else { return [] }
    return try NetworkLedger.seen(home: home.id, limit: HomeAssistantButton.mostChoices, tx).map {
      let network = $0.network.description
      return .init(
        network: network, name: ShownName.cleaned($0.name), login: login,
        token: configuration.buttonTokens.token(for: Self.choice(of: network)))
    }
  }

  /// Brings the rows of a home in line with what is asked now: a request that is asked from now on gets its buttons,
  /// and those of one that is not go. So do the networks that can be preferred.
  ///
  /// - Parameter event: from which on it is so; called where something has changed.
  func reconcile(_ home: HomeRecord, _ tx: WriteTransaction, from event: () throws -> Int64) throws
  {
    // With other settings the start has done it.
    guard configuration.homeAssistant.decidingLogin != nil,
      let place = configuration.homeAssistantPlace(of: home.name),
      let waiting = waiting(in: home.name, tx)
    else { return }
    let asked =
      asked(of: waiting, in: home.name, tx).map { place.questionTopic($0.id.description) }
      + (try choices(in: home, tx).map { place.choiceTopic($0.network) })
    let rows = try HomeAssistantLedger.ofDaemon(home: home.id, tx)
    let known = Set(rows.map(\.topic))
    let ended = rows.filter {
      $0.due == nil && $0.topic != place.bridgeTopic && !asked.contains($0.topic)
    }
    let new = asked.filter { !known.contains($0) }
    guard !ended.isEmpty || !new.isEmpty else { return }
    let event = try event()
    for row in ended { try HomeAssistantLedger.setDue(row: row.id, from: event, tx) }
    for topic in new {
      try HomeAssistantLedger.setDue(topic, of: nil, home: home.id, from: event, tx)
    }
  }
}

extension BridgeConfiguration {
  /// Whether Home Assistant decides about a question.
  func isAsked(_ pending: PendingConsent) -> Bool {
    guard let login = homeAssistant.decidingLogin, homeAssistant.covers(pending.subject) else {
      return false
    }
    return pending.isApprovable(by: .mqttUser(login, team: team(login)))
  }
}

extension BridgeConfiguration.HomeAssistant {
  /// Nil where nothing is decided through it.
  var decidingLogin: String? { consent == .off ? nil : login }

  /// Whether a login of the broker is Home Assistant's, and decides about something.
  func decides(as user: String) -> Bool {
    decidingLogin.map { BrokerUser.isSame($0, user) } ?? false
  }

  /// Whether it decides about this without a signature. An adoption is about a login that is enrolled: what it is
  /// given is sealed to its key, and the broker vouches for who asks.
  func covers(_ subject: ConsentSubject) -> Bool {
    switch consent {
    case .off: false
    case .adoptions: subject.isAdoption
    case .all: true
    }
  }

  /// Nil unless it decides about everything.
  var consentAlert: AlertFacts? {
    guard consent == .all, let login else { return nil }
    return .consentByHomeAssistant(login: login)
  }
}
