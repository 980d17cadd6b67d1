// SPDX-License-Identifier: Apache-2.0

import Broker
import ConsentLedger
import KeychainCore
import SQLiteDatabase
import ThreadCredentialStore
import ThreadDataset

/// The adoptions of all routers within one transaction: reads what `AdoptionMachine` needs to know, and writes what it
/// decides. What follows for others is returned.
final class Adoptions {
  let configuration: BridgeConfiguration
  let store: ThreadCredentialStore
  let keys: any AnswerSealer
  let now: WireTime
  let tx: WriteTransaction

  init(
    configuration: BridgeConfiguration, store: ThreadCredentialStore, keys: any AnswerSealer,
    now: WireTime, tx: WriteTransaction
  ) {
    self.configuration = configuration
    self.store = store
    self.keys = keys
    self.now = now
    self.tx = tx
  }

  var consents: ConsentLedger { ConsentLedger(store.keychain) }
  var sealer: AdoptionSealer {
    AdoptionSealer(configuration: configuration, keys: keys, now: now, tx: tx)
  }

  func machine(of router: RouterRecord, in home: String) throws -> AdoptionMachine {
    AdoptionMachine(router.adoption, try record(of: router.agent, in: home))
  }

  /// Nil also where it is damaged.
  func record(of agent: BorderAgentID, in home: String) throws -> Adoption? {
    do {
      return try store.adoption(of: agent, in: home, tx)
    } catch let error as KeychainError where error.isItemDamaged {
      return nil
    }
  }

  /// What is stored for a router; nil also where it is damaged.
  func dataset(of agent: BorderAgentID, in home: String) throws -> OperationalDataset? {
    try store.readableCredential(of: agent, in: home, tx)?.dataset
  }

  /// What is to be given to a router now; nil where it is not on another network.
  func target(
    of router: RouterRecord, _ preferred: OperationalDataset?, in home: String
  ) throws -> AdoptionTarget? {
    guard let preferred, preferred.extendedPANID != nil,
      let dataset = try dataset(of: router.agent, in: home),
      case .mismatch = PreferredCheck(dataset, of: router, preferred: preferred)
    else { return nil }
    return AdoptionTarget(preferred: preferred, reported: dataset)
  }

  /// Whether a person was asked about something else than holds now.
  func isOutdated(
    _ adoption: Adoption, of router: RouterRecord, _ preferred: OperationalDataset?, in home: String
  ) throws -> Bool {
    let (user, key) = try sealer.addressee(of: router, adoption, in: home)
    guard BrokerUser.isSame(user, adoption.user), key.isSame(as: .enrolled(adoption.key)),
      let preferred
    else { return true }
    return !preferred.essentialDifferences(from: adoption.preferred).isEmpty
  }

  /// Whether that by which it is given still counts: what was agreed to for good can be taken back.
  func holds(_ adoption: Adoption, of router: RouterRecord) throws -> Bool {
    if let id = ConsentID(adoption.consent, .request) {
      guard try consents.past(id, tx)?.scope == .always else { return true }
    }
    return try consents.grant(for: question(about: adoption, router), tx) != nil
  }

  func question(about adoption: Adoption, _ router: RouterRecord) -> ConsentRequest {
    AdoptionQuestion.request(
      about: adoption, router, team: configuration.team(adoption.user))
  }

  /// Writes what the machine has decided.
  ///
  /// - Parameters:
  ///   - stored: the router as it is in its row.
  ///   - connection: that publishes; nil where nothing can be sent.
  /// - Returns: what follows, in order.
  func perform(
    _ effects: [AdoptionEffect], _ machine: inout AdoptionMachine, of stored: RouterRecord,
    in home: String, connection: Int64? = nil
  ) throws -> [Effect] {
    var following: [Effect] = []
    for effect in effects {
      switch effect {
      case .save(let record): try store.save(record, tx)
      case .delete: try store.deleteAdoption(of: stored.agent, in: home, tx)
      case .withdraw(let id): try consents.withdraw(id, now: now.milliseconds, tx)
      case .allowAgain(let id): try consents.allowAgain(id, now: now.milliseconds, tx)
      case .noteNotGiven(let id):
        if let record = try consents.noteNotGiven(id, .changed, tx) {
          following.append(.log(.notGiven(record, .changed)))
        }
      case .logChanged: following.append(.log(.adoptionChanged(stored.agent)))
      case .ask: break
      case .send(let record):
        guard let connection, let message = try sealer.message(record, for: connection) else {
          continue
        }
        following.append(.send(message))
        guard machine.state != .sent else { continue }
        let sent = machine.handle(.sent(record))
        following += try perform(sent, &machine, of: stored, in: home)
      case .publishSent(let record):
        let question = question(about: record, stored)
        try consents.noteDisclosure(
          of: question.subject, to: question.requester, by: record.consent, tx)
        following.append(.router(changed(stored, machine, record)))
      case .check: following.append(.router(changed(stored, machine)))
      }
    }
    return following
  }

  private func changed(
    _ stored: RouterRecord, _ machine: AdoptionMachine, _ sent: Adoption? = nil
  ) -> RouterChange {
    let change = RouterChange(stored, stored: stored, trigger: "adoption", now: now)
    change.router.adoption = machine.state
    guard let sent else { return change }
    change.event.types = .datasetSent
    change.event.user = sent.user
    change.event.network = sent.preferred.extendedPANID
    change.event.detail.networkName = sent.preferred.networkName
    change.event.detail.consent = sent.consent
    return change
  }
}
