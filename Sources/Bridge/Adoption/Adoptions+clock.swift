// SPDX-License-Identifier: Apache-2.0

import Broker
import ConsentLedger
import SodiumCrypto
import ThreadCredentialStore
import ThreadDataset

/// By the clock people are asked, messages are sent, and the wait ends.
extension Adoptions {
  /// The connection to the broker.
  struct Link {
    /// The number of the connection that publishes; nil while there is none.
    var connection: Int64?
    /// Since when everything that routers publish has been received; nil while it is not.
    var listeningSince: WireTime?
    var deliveries = AdoptionDeliveries()
  }

  /// What is looked up once for all routers of a tick.
  struct Round {
    /// Ids of the questions that wait.
    fileprivate var waiting: Set<String>?
    /// Users of whom no more questions may wait.
    fileprivate var tooMany: Set<String> = []
  }

  /// - Parameter preferred: read only where the router's state needs it: it may be damaged.
  func tick(
    _ router: RouterRecord, preferred: () throws -> OperationalDataset?, _ link: Link,
    _ round: inout Round, in home: String
  ) throws -> [Effect] {
    // Before a person is asked nothing is stored.
    let isBefore = router.adoption?.needsKey == false && configuration.adoptTimeout != nil
    var machine =
      try isBefore ? AdoptionMachine(router.adoption, nil) : machine(of: router, in: home)
    let found = try found(router, machine, preferred, link, &round, in: home)
    let effects = machine.handle(.clock(found))
    guard effects == [.ask] else {
      return try perform(
        effects, &machine, of: router, in: home, connection: link.connection)
    }
    guard !round.tooMany.contains(router.user) else { return [] }
    round.waiting = nil
    let (answer, news) = try ask(about: router, preferred, &round, in: home)
    machine = try self.machine(of: router, in: home)
    return try news + perform(machine.handle(.asked(answer)), &machine, of: router, in: home)
  }

  private func found(
    _ router: RouterRecord, _ machine: AdoptionMachine,
    _ preferred: () throws -> OperationalDataset?,
    _ link: Link, _ round: inout Round, in home: String
  ) throws -> AdoptionClock {
    var found = AdoptionClock(now: now, timeout: configuration.adoptTimeout)
    guard found.timeout != nil else { return found }
    found.isRouterOnline = router.isOnline
    found.hasConnection = link.connection != nil
    switch router.adoption {
    case nil, .due: return found
    case .notEnrolled, .damagedKeys:
      found.obstacle = try sealer.addressee(of: router, nil, in: home).key.obstacle
      return found
    default: break
    }
    guard let record = machine.record else {
      found.isAwaited = false
      return found
    }
    found.isOutdated = try isOutdated(record, of: router, preferred(), in: home)
    switch router.adoption {
    case .asked:
      guard !found.isOutdated else { break }
      found.isQuestionWaiting = try waiting(&round).contains(record.consent)
    case .agreed:
      guard found.hasConnection, !found.isOutdated else { break }
      found.messageID = "a-\(Hexadecimal.encode(RandomBytes.make(8)))"
      found.target = try target(of: router, preferred(), in: home)
      found.holds = try holds(record, of: router)
    case .sent:
      found.isAwaited = try machine.isAwaited(dataset(of: router.agent, in: home))
      found.isDue =
        link.connection.map { link.deliveries.isDue(record.id, connection: $0, now: now) } ?? false
      found.holds = try !found.isDue || holds(record, of: router)
      found.hasArrived = link.deliveries.hasArrived(record.id)
      found.isCaughtUp = AdoptionDeadline.isCaughtUp(since: link.listeningSince, now: now)
    default: break
    }
    return found
  }

  private func waiting(_ round: inout Round) throws -> Set<String> {
    if let waiting = round.waiting { return waiting }
    let waiting = Set(try consents.pending(now: now.milliseconds, tx).map(\.id.description))
    round.waiting = waiting
    return waiting
  }

  /// Asks whether a router may be given the preferred credentials; not where "always" was approved.
  private func ask(
    about router: RouterRecord, _ preferred: () throws -> OperationalDataset?,
    _ round: inout Round, in home: String
  ) throws -> (AdoptionAnswer, [Effect]) {
    guard let target = try target(of: router, preferred(), in: home) else {
      return (.nothingToAdopt, [])
    }
    let (user, sealing) = try sealer.addressee(of: router, nil, in: home)
    guard case .enrolled(let key) = sealing else {
      return (.noKey(sealing.obstacle ?? .notEnrolled), [])
    }
    var adoption = Adoption(
      home: home, agent: router.agent, user: user, key: key, phase: .asked, consent: "",
      preferred: target.preferred, reported: target.reported)
    do {
      switch try consents.ask(question(about: adoption, router), now: now.milliseconds, tx) {
      case .granted(let grant):
        adoption.consent = grant.id.description
        return (.granted(adoption), [])
      case .pending(let pending, let isNew):
        adoption.consent = pending.id.description
        return (.waits(adoption), isNew ? [.question(pending)] : [])
      }
    } catch let refusal as ConsentRefusal {
      if refusal.code == .rateLimited { round.tooMany.insert(router.user) }
      return (.refused, [])
    }
  }
}
