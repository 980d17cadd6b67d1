// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import ConsentLedger
import SodiumCrypto
import ThreadCredentialStore
import ThreadDataset
import ThreadRequests

/// The question, and what follows from the answer.
extension BatchApplier {
  /// What a person is asked for, beside the commands that somebody else can send.
  static let adoptionCommand = "dataset/set"

  /// Asks whether a router may be given the preferred credentials; not where somebody has said "always".
  ///
  /// - Returns: why nobody could be asked now; the clock comes back to it.
  func askForAdoption(of stored: RouterRecord, home: HomeContext) throws -> ConsentRefusal? {
    guard let preferred = try preferredNetwork(of: home), preferred.extendedPANID != nil,
      let credential = try readableCredential(of: stored.agent, home: home),
      case .mismatch = PreferredCheck(credential.dataset, of: stored, preferred: preferred)
    else {
      try forgetAdoption(of: stored, home: home)
      return nil
    }
    // Nobody is asked about what could not be sent afterwards.
    let (user, sealing) = try addressee(of: stored, nil, home: home)
    guard case .enrolled(let key) = sealing else {
      try note(sealing.obstacle ?? .notEnrolled, of: stored, home: home)
      return nil
    }
    var adoption = Adoption(
      home: home.record.name, agent: stored.agent, user: user, key: key, phase: .asked,
      consent: "", preferred: preferred, reported: credential.dataset)
    do {
      switch try consents.ask(question(of: adoption, stored), now: now.milliseconds, tx) {
      case .granted(let grant):
        adoption.consent = grant.id.description
        try agree(adoption, of: stored, home: home)
      case .pending(let pending, let isNew):
        if isNew { try tell(pending) }
        adoption.consent = pending.id.description
        try store.save(adoption, tx)
        var router = stored
        router.adoption = .asked
        try finishUnchangedDataset(router, stored: stored, trigger: "adoption", home: home)
      }
      return nil
    } catch let refusal as ConsentRefusal {
      // Too many wait, or the same was refused a moment ago.
      guard stored.adoption != .due else { return refusal }
      var router = stored
      router.adoption = .due
      try finishUnchangedDataset(router, stored: stored, trigger: "adoption", home: home)
      return refusal
    }
  }

  /// A question is settled. Those that are not about routers, or were withdrawn, are none of these.
  func adoptionSettled(_ record: ConsentRecord) throws {
    guard record.subject.command == Self.adoptionCommand, let agent = record.subject.router?.agent
    else { return }
    let isGiven = try settleAdoption(of: agent, record)
    if record.outcome == .approved, !isGiven { try noteNotGiven(record.id.description, .changed) }
  }

  /// - Returns: whether the credentials are to be given.
  private func settleAdoption(of agent: BorderAgentID, _ record: ConsentRecord) throws -> Bool {
    guard
      let home = servedHomes.first(where: { $0.record.name == record.subject.home }),
      let stored = try RouterLedger.find(agent, home: home.record.id, tx), stored.isPresent,
      let adoption = try adoption(of: agent, home: home), adoption.phase == .asked,
      adoption.consent == record.id.description
    else { return false }
    switch record.outcome {
    case .approved: return try adopt(adoption, stored, home: home)
    case .denied: try failAdoption(of: stored, adoption, as: .denied, home: home)
    case .expired, .revoked: try failAdoption(of: stored, adoption, as: .expired, home: home)
    }
    return false
  }

  private func adopt(
    _ agreed: Adoption, _ stored: RouterRecord, home: HomeContext
  ) throws -> Bool {
    guard configuration.adoptTimeout != nil else {
      // The setting is another one since.
      try forgetAdoption(of: stored, home: home)
      return false
    }
    // A person may have agreed to something else. The walk may not have come to this router yet.
    guard let dataset = try readableDataset(of: stored.agent, home: home),
      let preferred = try preferredNetwork(of: home),
      case .mismatch = PreferredCheck(dataset, of: stored, preferred: preferred),
      try !isOutdated(agreed, of: stored, home: home)
    else {
      try beginAnew(stored, home: home)
      return false
    }
    var adoption = agreed
    adoption.preferred = preferred
    adoption.reported = dataset
    try agree(adoption, of: stored, home: home)
    return true
  }

  /// Keeps the preferred credentials for the router, under seal, until the clock sends them: that they were
  /// is said when they are. What is stored as the router's own stays as it is.
  private func agree(_ agreed: Adoption, of stored: RouterRecord, home: HomeContext) throws {
    var adoption = agreed
    adoption.phase = .agreed
    try store.save(adoption, tx)
    var router = stored
    router.adoption = .agreed
    try finishUnchangedDataset(router, stored: stored, trigger: "adoption", home: home)
  }

  /// Whether something can be sealed for it: an obstacle, or that it is due again.
  func note(_ state: AdoptionState, of stored: RouterRecord, home: HomeContext) throws {
    try store.deleteAdoption(of: stored.agent, in: home.record.name, tx)
    var router = stored
    router.adoption = state
    try finishUnchangedDataset(router, stored: stored, trigger: "adoption", home: home)
  }

  /// What is stored of the adoption is not what holds now: a person is asked, as soon as can be.
  func beginAnew(_ stored: RouterRecord, home: HomeContext) throws {
    var router = stored
    try abandonAdoption(by: &router, next: .due, home: home)
    try finishUnchangedDataset(router, stored: stored, trigger: "adoption", home: home)
  }

  /// There is nothing to adopt, or the setting says so.
  func forgetAdoption(of stored: RouterRecord, home: HomeContext) throws {
    var router = stored
    try abandonAdoption(by: &router, next: nil, home: home)
    try finishUnchangedDataset(router, stored: stored, trigger: "adoption", home: home)
  }
}
