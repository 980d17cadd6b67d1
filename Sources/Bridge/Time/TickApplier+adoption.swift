// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import ThreadCredentialStore

/// Routers that are to be given the preferred credentials: by the clock people are asked, messages are
/// sent, and the wait ends.
extension TickApplier {
  private static let adoptionStep = 200
  /// Seconds in which the broker gives out what waited for a keeper that was away.
  private static let hearing = 10

  func attendAdoptions() throws {
    let routers = try RouterLedger.adopting(
      after: mail.cursor, limit: Self.adoptionStep, batch.tx)
    var round = AdoptionRound()
    for router in routers where router.adoption?.needsAttention == true {
      guard let home = batch.servedHomes.first(where: { $0.record.id == router.home }) else {
        continue
      }
      try attend(router, home, &round)
    }
    let isDone = routers.count < Self.adoptionStep
    let next = isDone ? 0 : routers.last?.id ?? 0
    batch.tx.afterCommit("adoptions looked at") { [mail] in mail.cursor = next }
  }

  /// What is looked up once for all routers of a tick.
  private struct AdoptionRound {
    /// Ids of the questions that wait.
    var waiting: Set<String>?
    /// Users of whom no more questions may wait.
    var tooMany: Set<String> = []
  }

  private func attend(
    _ router: RouterRecord, _ home: HomeContext, _ round: inout AdoptionRound
  ) throws {
    switch router.adoption {
    // Who is away could not answer.
    case .due where router.isOnline: try ask(about: router, home, &round)
    case .notEnrolled where router.isOnline:
      let isEnrolled = try batch.configuration.requests.sealer.isEnrolled(
        router.user, in: home.record.name, batch.tx)
      if isEnrolled { try ask(about: router, home, &round) }
    case .asked: try checkQuestion(of: router, home, &round)
    case .sent: try checkAnswer(of: router, home)
    default: break
    }
  }

  private func ask(
    about router: RouterRecord, _ home: HomeContext, _ round: inout AdoptionRound
  ) throws {
    guard !round.tooMany.contains(router.user) else { return }
    let refusal = try batch.askForAdoption(of: router, home: home)
    if refusal?.code == .rateLimited { round.tooMany.insert(router.user) }
    round.waiting = nil
  }

  /// A question that is no more, and was not settled, was altered or lost.
  private func checkQuestion(
    of router: RouterRecord, _ home: HomeContext, _ round: inout AdoptionRound
  ) throws {
    let adoption = try batch.adoption(of: router.agent, home: home)
    guard let adoption, adoption.phase == .asked else {
      return try batch.beginAnew(router, home: home)
    }
    let waiting =
      try round.waiting
      ?? Set(
        batch.consents.pending(now: batch.now.milliseconds, batch.tx).map(\.id.description))
    round.waiting = waiting
    guard !waiting.contains(adoption.consent) else { return }
    try batch.failAdoption(of: router, adoption, as: .expired, home: home)
  }

  private func checkAnswer(of router: RouterRecord, _ home: HomeContext) throws {
    guard let adoption = try batch.awaited(router, home: home) else {
      return try batch.beginAnew(router, home: home)
    }
    let isOver = AdoptionDeadline.isOver(
      adoption.deadline, timeout: batch.adoptTimeout, now: batch.now)
    guard !isOver else {
      // Its answer may wait on the broker while the keeper is not there to hear it.
      guard let listeningSince, listeningSince.adding(seconds: Self.hearing) <= batch.now else {
        return
      }
      return try batch.failAdoption(of: router, adoption, as: .timeout, home: home)
    }
    guard let connection, mail.isDue(adoption.id, connection: connection, now: batch.now) else {
      return
    }
    guard let until = try batch.send(adoption) else { return }
    batch.tx.afterCommit("adoption \(adoption.id)") { [mail, now = batch.now] in
      mail.handed(adoption.id, to: connection, until: until, now: now)
    }
  }
}
