// SPDX-License-Identifier: Apache-2.0

import Broker
import ThreadCredentialStore
import ThreadDataset

/// `announce` and `dataset`: the router is here, and this is what it runs on.
extension Routers {
  /// Takes over what the event says of its router, without the dataset.
  func takeDescription(
    of event: InboundEvent, by user: String, into router: inout RouterRecord
  ) {
    router.team = configuration.team(user)
    if router.source == .mdns {
      router.source = .mqtt
      // What its record says is not what its login says.
      router.currentNetwork = nil
      if router.credential == .missing { router.forgetDataset() }
    }
    router.isKnown = true
    router.name = event.name ?? router.name
    router.vendor = event.vendor ?? router.vendor
    router.model = event.model ?? router.model
    router.extendedAddress = event.extendedAddress ?? router.extendedAddress
    router.accessPoint = event.accessPoint ?? router.accessPoint
    router.isPresent = true
    router.takeThreadReport(of: event, now: now)
    router.lastSeen = now
  }

  /// Stores what the router reports.
  ///
  /// - Parameters:
  ///   - router: as the event describes it, with its adoption in line with the report. The state of its credentials
  ///     and what is shown of the dataset are set here.
  ///   - stored: its row as it was.
  ///   - credential: what was stored for it.
  ///   - report: whether the router was sent the preferred credentials, and uses them.
  /// - Returns: what is stored for it now, and what follows.
  func announce(
    _ event: InboundEvent, by user: String, of router: inout RouterRecord, stored: RouterRecord?,
    over credential: ThreadCredential?, preferred: OperationalDataset?, report: AdoptionReport?,
    in home: HomeRecord
  ) throws -> (dataset: OperationalDataset?, effects: [Effect]) {
    var effects: [Effect] = []
    var record = EventRecord(time: now, home: home.id)
    record.router = router.agent
    record.user = user
    if stored?.isPresent != true {
      effects.append(.routerCame(home: home.id))
    }
    if stored?.isAnnounced != true {
      record.types.insert(.routerAnnounced)
    }
    var current = credential?.dataset
    if let incoming = event.dataset {
      let isTaken =
        report == .confirmed || report == .configured
        || returns(to: incoming, from: current, preferred: preferred)
      var change =
        isTaken
        ? DatasetDecision(stored: current, confirmed: incoming)
        : DatasetDecision(stored: current, incoming: incoming)
      if let preferred, change.isStored,
        Membership.isTooFarAhead(incoming, preferred: preferred, now: now.milliseconds / 1_000)
      {
        change = .conflict(incoming.essentialDifferences(from: preferred))
      }
      let moved = try ReportedDataset(
        incoming, of: router.agent, in: home.name, team: configuration.team(user), change: change
      ).save(over: credential, preferred: preferred, in: store, tx)
      if let moved {
        effects.append(.preferred(moved, by: router.shownName, home: home.id))
        record.types.insert(.preferredChanged)
      }
      describe(incoming, change, over: credential, router: &router, record: &record)
      if change.isStored { current = incoming }
    } else if let current {
      // Only a registry that has lost the router knows less than the store.
      if router.network == nil {
        router.credential = .stored
        router.describe(current, at: now)
      }
    } else {
      router.credential = .missing
    }
    let change = RouterChange(router, stored: stored, trigger: event.kind.rawValue, now: now)
    change.dataset = .known(current)
    change.event = record
    effects.append(.router(change))
    if let stored, stored.isPresent, !BrokerUser.isSame(stored.user, user) {
      effects.append(.routerGone(ofUser: stored.user, home: home.id))
    }
    return (current, effects)
  }

  /// Whether a router that had other parameters than the preferred network uses the preferred ones now,
  /// which may be older.
  private func returns(
    to incoming: OperationalDataset, from current: OperationalDataset?,
    preferred: OperationalDataset?
  ) -> Bool {
    guard let current, let preferred else { return false }
    return incoming.essentialDifferences(from: preferred).isEmpty
      && !current.essentialDifferences(from: preferred).isEmpty
  }

  /// What is shown of a dataset, and published about it.
  private func describe(
    _ incoming: OperationalDataset, _ change: DatasetDecision, over credential: ThreadCredential?,
    router: inout RouterRecord, record: inout EventRecord
  ) {
    router.credential = .stored
    switch change {
    case .store: record.types.insert(.datasetStored)
    case .keep:
      if router.network == nil { router.describe(incoming, at: now) }
      return
    case .update(let names), .move(_, let names):
      record.types.insert(.datasetUpdated)
      record.detail.differs = names.map(\.rawValue)
      if case .move(let previous, _) = change {
        record.detail.previousExtendedPANID = previous?.description
      }
    case .ignoreOlder:
      router.credential = .stale
      describeStored(credential, &router)
      record.types.insert(.datasetIgnored)
      record.detail.reason = "older"
      return
    case .conflict(let names):
      router.credential = .conflict
      describeStored(credential, &router)
      record.types.insert(.datasetIgnored)
      record.detail.reason = "conflict"
      record.detail.differs = names.map(\.rawValue)
      return
    }
    router.describe(incoming, at: now)
    record.detail.networkName = incoming.networkName
    record.network = incoming.extendedPANID
  }

  /// A router that comes after its credentials, which were stored by request, shows those.
  private func describeStored(_ credential: ThreadCredential?, _ router: inout RouterRecord) {
    guard router.network == nil, let credential else { return }
    router.describe(credential.dataset, at: now)
  }
}
