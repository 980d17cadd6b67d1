// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import ThreadCredentialStore

/// Routers that are to be given the preferred credentials: by the clock people are asked, messages are
/// sent, and the wait ends.
extension TickApplier {
  private static let adoptionStep = 200

  func attendAdoptions(cursor: inout Int64) throws {
    let routers = try RouterLedger.adopting(
      after: cursor, limit: Self.adoptionStep, batch.tx)
    var round = AdoptionRound()
    for router in routers {
      guard let home = batch.servedHomes.first(where: { $0.record.id == router.home }) else {
        continue
      }
      if let timeout = batch.configuration.adoptTimeout {
        try attend(router, home, &round, timeout: timeout)
      } else {
        try batch.forgetAdoption(of: router, home: home)
      }
    }
    cursor = routers.count < Self.adoptionStep ? 0 : routers.last?.id ?? 0
  }

  /// What is looked up once for all routers of a tick.
  private struct AdoptionRound {
    /// Ids of the questions that wait.
    var waiting: Set<String>?
    /// Users of whom no more questions may wait.
    var tooMany: Set<String> = []
  }

  private func attend(
    _ router: RouterRecord, _ home: HomeContext, _ round: inout AdoptionRound, timeout: Int
  ) throws {
    switch router.adoption {
    case nil: break
    // Who is away could not answer.
    case .due: if router.isOnline { try ask(about: router, home, &round) }
    case .notEnrolled, .damagedKeys:
      let key = try batch.addressee(of: router, nil, home: home).key
      if let obstacle = key.obstacle {
        if obstacle != router.adoption { try batch.note(obstacle, of: router, home: home) }
      } else if router.isOnline {
        try ask(about: router, home, &round)
      } else {
        // Nothing is in the way any more, only the router is away.
        try batch.note(.due, of: router, home: home)
      }
    case .asked: try checkQuestion(of: router, home, &round)
    case .agreed: try send(to: router, home, timeout: timeout)
    case .sent: try checkAnswer(of: router, home, timeout: timeout)
    case .denied, .expired, .timeout, .disagreement:
      // Another key is another question.
      guard let adoption = try batch.adoption(of: router.agent, home: home),
        try batch.isOutdated(adoption, of: router, home: home)
      else { return }
      try batch.lookAgain(at: router, home: home)
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
    guard try !batch.isOutdated(adoption, of: router, home: home) else {
      return try batch.lookAgain(at: router, home: home)
    }
    let waiting =
      try round.waiting
      ?? Set(
        batch.consents.pending(now: batch.now.milliseconds, batch.tx).map(\.id.description))
    round.waiting = waiting
    guard !waiting.contains(adoption.consent) else { return }
    try batch.failAdoption(of: router, adoption, as: .expired, home: home)
  }

  /// Somebody has agreed: it leaves as soon as there is a connection.
  private func send(to router: RouterRecord, _ home: HomeContext, timeout: Int) throws {
    let adoption = try batch.adoption(of: router.agent, home: home)
    guard let adoption, adoption.phase == .agreed else {
      return try batch.beginAnew(router, home: home)
    }
    guard try !batch.isOutdated(adoption, of: router, home: home) else {
      return try batch.lookAgain(at: router, home: home)
    }
    guard let connection else { return }
    try batch.send(adoption, to: router, for: connection, home: home, timeout: timeout)
  }

  private func checkAnswer(
    of router: RouterRecord, _ home: HomeContext, timeout: Int
  ) throws {
    guard var adoption = try batch.awaited(router, home: home) else {
      return try batch.beginAnew(router, home: home)
    }
    // The preferred network or the key may be another one, which no event of this router has shown yet.
    guard try !batch.isOutdated(adoption, of: router, home: home) else {
      return try batch.lookAgain(at: router, home: home)
    }
    let isDue =
      connection.map { deliveries.isDue(adoption.id, connection: $0, now: batch.now) } ?? false
    // What was agreed to for good may have been taken back since.
    guard try !isDue || batch.holds(adoption, of: router) else {
      return try batch.beginAnew(router, home: home)
    }
    let isHeard = AdoptionDeadline.isHeard(since: listeningSince, now: batch.now)
    var deadline = AdoptionDeadline.limited(adoption.deadline, timeout: timeout, now: batch.now)
    if !deliveries.hasArrived(adoption.id) {
      // Nobody knows that the broker has got it, so the router has time from when it is sent the next time.
      // Its answer may wait on the broker while the daemon is not there to hear it.
      guard connection != nil, deadline > batch.now.milliseconds || isHeard else { return }
      let isShort = deadline - batch.now.milliseconds < Int64(timeout) * 500
      if isDue, isShort { deadline = batch.now.adding(seconds: timeout).milliseconds }
    }
    if deadline != adoption.deadline {
      adoption.deadline = deadline
      try batch.store.save(adoption, batch.tx)
    }
    guard deadline > batch.now.milliseconds else {
      guard isHeard else { return }
      return try batch.failAdoption(of: router, adoption, as: .timeout, home: home)
    }
    if isDue, let connection { try batch.write(adoption, for: connection) }
  }
}
