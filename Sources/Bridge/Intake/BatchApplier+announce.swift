// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import ThreadCredentialStore
import ThreadDataset

/// `announce` and `dataset`: the router is here, and this is what it runs on.
extension BatchApplier {
  /// A login that makes up border routers fills neither the disk nor everybody's lists.
  private func checkRoom(for user: String, _ stored: RouterRecord?, home: HomeContext) throws {
    if let effects = try ownership.makeRoom(
      for: configuration.team(user), stored, in: home.record)
    {
      return try apply(effects)
    }
    throw Rejection(
      .tooManyRouters, field: "border_agent_id",
      message: "this team has \(configuration.routersPerTeam) border agent ids already (setting "
        + "`limits.routers_per_team`); publish `leave` for routers that are gone")
  }

  func applyAnnounce(
    _ event: InboundEvent, to ordered: RouterRecord, stored: RouterRecord?,
    credential: ThreadCredential?, user: String, home: HomeContext
  ) throws {
    try checkRoom(for: user, stored, home: home)
    var router = ordered
    router.team = configuration.team(user)
    router.name = event.name ?? router.name
    router.vendor = event.vendor ?? router.vendor
    router.model = event.model ?? router.model
    router.extendedAddress = event.extendedAddress ?? router.extendedAddress
    router.accessPoint = event.accessPoint ?? router.accessPoint
    router.isPresent = true
    router.takeThreadReport(of: event, now: now)
    router.lastSeen = now

    var record = EventRecord(time: now, home: home.record.id)
    record.router = router.agent
    record.user = user
    if stored?.isPresent != true {
      record.types.insert(.routerAnnounced)
      noteRouter(in: home, change: 1)
    }
    if event.dataset != nil, !event.wasSealed { try plaintextSeen(from: user, home: home) }
    let report = try adoptions.judge(
      event.dataset, of: &router, preferred: preferredNetwork(of: home), in: home.record.name)
    var current = credential?.dataset
    if let incoming = event.dataset {
      let isTaken =
        try report == .confirmed || report == .configured
        || returns(to: incoming, from: current, home: home)
      let change =
        isTaken
        ? DatasetDecision(stored: current, confirmed: incoming)
        : DatasetDecision(stored: current, incoming: incoming)
      let moved = try ReportedDataset(
        incoming, of: router.agent, in: home.record.name, team: configuration.team(user),
        change: change
      ).save(over: credential, preferred: preferredNetwork(of: home), in: store, tx)
      if let moved {
        try preferredIsSet(moved, by: router.displayName, in: home)
        record.types.insert(.preferredChanged)
      }
      describe(incoming, change, over: credential, router: &router, record: &record)
      if change.isStored { current = incoming }
      try adoptions.note(report, of: router, reported: current, in: home.record.name)
    } else if let current {
      // Only a registry that has lost the router knows less than the store.
      if router.network == nil {
        router.credential = .stored
        router.describe(current, at: now)
      }
    } else {
      router.credential = .missing
    }
    try finish(
      router, stored: stored, dataset: current, record: record, trigger: event.kind.rawValue,
      home: home)
    if let stored, stored.isPresent, !BrokerUser.isSame(stored.user, user) {
      try plaintextEnded(of: stored.user, home: home)
    }
  }

  /// Whether a router that had other parameters than the preferred network uses the preferred ones now,
  /// which may be older.
  private func returns(
    to incoming: OperationalDataset, from current: OperationalDataset?, home: HomeContext
  ) throws -> Bool {
    guard let current, let preferred = try preferredNetwork(of: home) else { return false }
    return incoming.essentialDifferences(from: preferred).isEmpty
      && !current.essentialDifferences(from: preferred).isEmpty
  }

  /// What is shown of a dataset, and said about it.
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
