// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import KeychainCore
import ThreadCredentialStore
import ThreadDataset

/// Whether a router is to be given the preferred network's credentials, and what ends that.
extension BatchApplier {
  /// What is stored of a router's adoption; nil where it is damaged.
  func adoption(of agent: BorderAgentID, home: HomeContext) throws -> Adoption? {
    do {
      return try store.adoption(of: agent, in: home.record.name, tx)
    } catch let error as KeychainError where error.isItemDamaged {
      return nil
    }
  }

  /// The adoption of a router whose word is waited for. Nil when something else is stored for it than it has
  /// said: that counts.
  func awaited(_ router: RouterRecord, home: HomeContext) throws -> Adoption? {
    guard router.adoption == .sent, let adoption = try adoption(of: router.agent, home: home),
      adoption.phase == .sent,
      try readableDataset(of: router.agent, home: home) == adoption.reported
    else { return nil }
    return adoption
  }

  /// Brings a router's adoption in line with what holds now.
  ///
  /// - Parameter reported: what the router itself says that it uses.
  func considerAdoption(
    by router: inout RouterRecord, _ check: PreferredCheck, reported: OperationalDataset?,
    isSSIDNew: Bool, home: HomeContext
  ) throws {
    let isEnabled = configuration.adoptTimeout != nil
    guard router.adoption != nil || isEnabled && check.name == "mismatch" else { return }
    var asked: Adoption?
    if router.adoption != nil {
      asked =
        router.adoption == .sent
        ? try awaited(router, home: home) : try adoption(of: router.agent, home: home)
    }
    var now: AdoptionSituation?
    if let reported, let preferred = try preferredNetwork(of: home) {
      let (user, key) = try addressee(of: router, asked, home: home)
      now = AdoptionSituation(preferred: preferred, reported: reported, user: user, key: key)
    }
    let decision = AdoptionDecision(
      state: router.adoption, isEnabled: isEnabled, check: check,
      before: asked.map(AdoptionSituation.init), now: now,
      isRaised: try isMismatchRaised(of: router, home: home), isSSIDNew: isSSIDNew)
    switch decision {
    case .keep: break
    case .begin: try abandonAdoption(by: &router, next: .due, home: home)
    case .end: try abandonAdoption(by: &router, next: nil, home: home)
    case .fail(let state): try abandonAdoption(by: &router, next: state, home: home)
    }
  }

  /// By the clock: something that no message has shown may hold now.
  func lookAgain(at router: RouterRecord, home: HomeContext) throws {
    try finishUnchangedDataset(router, stored: router, trigger: "adoption", home: home)
  }

  /// Ends what is under way: a question is withdrawn, and what was to be given is stored no more.
  func abandonAdoption(
    by router: inout RouterRecord, next: AdoptionState?, home: HomeContext
  ) throws {
    if let adoption = try adoption(of: router.agent, home: home) {
      switch adoption.phase {
      case .asked: try consents.withdraw(adoption.consent, now: now.milliseconds, tx)
      case .agreed: try noteNotGiven(adoption.consent, .changed)
      case .sent, .over: break
      }
      if adoption.phase != .over {
        outcome.news.add(
          .notice, "the preferred credentials are not given: what was asked for has changed",
          ["border_agent_id": "\(router.agent)"])
      }
    }
    try store.deleteAdoption(of: router.agent, in: home.record.name, tx)
    router.adoption = next
  }

  /// It came to nothing, and is not begun again while all is as it is now.
  func failAdoption(
    of stored: RouterRecord, _ failed: Adoption, as state: AdoptionState, home: HomeContext
  ) throws {
    var adoption = failed
    adoption.phase = .over
    try store.save(adoption, tx)
    var router = stored
    router.adoption = state
    try finishUnchangedDataset(router, stored: stored, trigger: "adoption", home: home)
  }

  private func isMismatchRaised(of router: RouterRecord, home: HomeContext) throws -> Bool {
    let name = AlertName.preferredNetworkMismatch
    guard router.adoption == nil, router.alerts & (1 << name.number) != 0 else { return false }
    let fingerprint = AlertFingerprint(
      home: home.record.name, name: name, subject: router.agent.description)
    return try AlertLedger.find(fingerprint, tx)?.phase == .firing
  }

  /// Routers whose mismatch was raised in this transaction.
  func beginRaisedAdoptions() throws {
    guard configuration.adoptTimeout != nil else { return }
    for (home, agent) in progress.takeRaisedMismatches() {
      guard var router = try RouterLedger.find(agent, home: home, tx), router.isPresent,
        router.adoption == nil
      else { continue }
      router.adoption = .due
      try RouterLedger.update(router, tx)
    }
  }
}
