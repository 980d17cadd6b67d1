// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import ConsentLedger
import KeychainCore
import SQLiteDatabase

/// The questions that wait for a person, and which of them Home Assistant is asked.
struct HomeAssistantQuestions: Sendable {
  private let configuration: BridgeConfiguration
  private let ledger: ConsentLedger
  private let now: @Sendable () -> WireTime

  init(
    _ configuration: BridgeConfiguration, _ keychain: Keychain,
    now: @escaping @Sendable () -> WireTime
  ) {
    self.configuration = configuration
    ledger = ConsentLedger(keychain)
    self.now = now
  }

  /// Whether home names are needed to tell questions apart.
  var namesHomes: Bool { configuration.topics.homes.count > 1 }

  /// What waits in a home, oldest first. Nil where the ledger cannot be read.
  func waiting(in home: String, _ tx: ReadTransaction) -> [PendingConsent]? {
    let waiting = try? ledger.pending(now: now().milliseconds, tx)
    return waiting?.filter { $0.subject.home == home }
  }

  /// The oldest one that Home Assistant's login may approve.
  func head(of waiting: [PendingConsent]) -> PendingConsent? {
    guard let login = configuration.homeAssistant.approver(in: configuration) else { return nil }
    return waiting.first {
      configuration.homeAssistant.covers($0) && $0.isApprovable(by: login)
    }
  }
}

extension BridgeConfiguration.HomeAssistant {
  /// Whether it is asked anything.
  var asksForConsent: Bool { consent != .off && login != nil }

  /// Whether a login of the broker is Home Assistant's, and decides about something.
  func decides(as user: String) -> Bool {
    guard consent != .off, let login else { return false }
    return BrokerUser.isSame(login, user)
  }

  /// Whether its word is enough for this question. An adoption is about a router that is enrolled, and what it is
  /// given is sealed to it: of all questions the one that gives nothing away to others.
  func covers(_ pending: PendingConsent) -> Bool {
    switch consent {
    case .off: false
    case .adoptions: pending.subject.isAdoption
    case .all: true
    }
  }

  /// Nil where it decides nothing.
  fileprivate func approver(in configuration: BridgeConfiguration) -> ConsentApprover? {
    guard consent != .off, let login else { return nil }
    return .mqttUser(login, team: configuration.team(login))
  }

  /// Nil unless Home Assistant decides about everything.
  var consentAlert: AlertFacts? {
    guard consent == .all, let login else { return nil }
    return .consentByHomeAssistant(login: login)
  }
}
