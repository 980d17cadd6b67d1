import ThreadDataset
import ThreadkeeperSupport

/// Which alerts a router's state calls for. Every one names the router, the network, what differs and what to do. What
/// one of them says to do, no other one speaks against: while `AdoptionFailed` fires, the mismatch refers to it; and
/// none says to wait, as others may say what to do meanwhile.
struct RouterAlerts {
  let router: StoredRouter
  let check: PreferredCheck
  let preferred: DatasetSummary?
  let trigger: AlertFacts.Trigger
  let lastSeen: WireTime
  /// The name of the network that it is on, where the router itself does not say it and it is known.
  let currentName: String?
  /// Whether an alert of the home explains why it differs from the preferred network.
  let isExplainedByHome: Bool
  /// Whether the alert that it went together with others takes the place of its own.
  let isAwayTogether: Bool
  /// Whether a person has accepted that it is on its network, which is not the preferred one.
  let isAccepted: Bool
  /// Whether another border router is online on the network that it is configured for.
  let hasOthers: Bool

  typealias Holding = [(name: AlertName, facts: AlertFacts)]

  /// The alerts whose conditions hold, in the order of `AlertName.ofRouters`. Mostly none; facts are
  /// large, and are made only for those that hold.
  func holding() -> Holding {
    var all: Holding = []
    addMismatch(to: &all)
    addConflict(to: &all)
    addStale(to: &all)
    addMissing(to: &all)
    addOffline(to: &all)
    if router.dataset?.parameters?.isKeyWellKnown == true { all.append((.wellKnownNetworkKey, facts(.wellKnownKey))) }
    addAdoptionFailed(to: &all)
    addDetached(to: &all)
    addUnknown(to: &all)
    if router.isUnadvertised, router.isOnline, router.threadState?.isAttached != false {
      all.append((.routerNotAdvertised, facts(.notAdvertised)))
    }
    if router.isOpenForCode, isOfHome { all.append((.credentialSharingOpen, facts(.openForCode))) }
    addReportsDiffer(to: &all)
    return all
  }

  private func facts(_ message: AlertFacts.Message, differs: DatasetDifferences? = nil) -> AlertFacts {
    var facts = AlertFacts(message)
    facts.router = router.agent
    facts.routerName = router.name
    facts.network = router.network.map { .init($0, router.networkName ?? currentName) }
    if router.isElsewhere {
      facts.configured = facts.network
      facts.network = router.currentNetwork.map { .init($0, currentName) }
    }
    facts.preferred = preferred.map { .init($0) }
    facts.differs = differs
    facts.trigger = trigger
    return facts
  }

  private var isConfiguredForPreferred: Bool { router.dataset != nil && router.dataset?.network == preferred?.network }

  /// Only its record says on which network it is, and it was never seen on the preferred one.
  private var isNeverMember: Bool { router.isOnlySeen && router.memberOf != preferred?.network }

  private func addMismatch(to all: inout Holding) {
    guard case .mismatch(let differs) = check, !isExplainedByHome, !isAccepted, !router.hasNoNetwork else { return }
    if !router.isElsewhere, isNeverMember {
      // Of one that was reset, one alert says all of it.
      if router.resetFrom == nil {
        all.append((.preferredNetworkMismatch, facts(.neverMember, differs: .extendedPANID)))
      }
      return
    }
    let message: AlertFacts.Message =
      if router.isElsewhere { .elsewhere(isConfiguredForPreferred: isConfiguredForPreferred) } else if differs.isEmpty {
        .notAttached
      } else { isConfiguredForPreferred || router.value.refuses(preferred) ? .otherCredentials : .otherNetwork }
    var facts = facts(message, differs: differs.isEmpty ? nil : differs)
    facts.adoption = shownAdoption
    all.append((.preferredNetworkMismatch, facts))
  }

  /// How far it is with giving it the preferred credentials, as far as that changes what is to be done.
  private var shownAdoption: AdoptionState? {
    switch router.adoption?.state {
    case .due: nil
    case .sent: .agreed
    case let state: state
    }
  }

  /// While an order is carried out: what its agent stops meanwhile, it starts again.
  private var order: AdoptionState? { shownAdoption == .agreed ? .agreed : nil }

  private func addStale(to all: inout Holding) {
    guard case .stale(let differs) = check else {
      if router.credential == .stale { all.append((.staleDataset, facts(.reportsOlder))) }
      return
    }
    var facts = facts(hasPreferred ? .reportsOlder : .behind, differs: differs.isEmpty ? nil : differs)
    facts.adoption = shownAdoption
    all.append((.staleDataset, facts))
  }

  /// Whether the preferred dataset is stored for it.
  private var hasPreferred: Bool { router.dataset.flatMap { own in preferred.map(own.isSame) } == true }

  private func addConflict(to all: inout Holding) {
    if case .conflict(let differs) = check {
      all.append((.datasetConflict, facts(.sameAge, differs: differs)))
    } else if router.credential == .conflict {
      let differs = router.reportDiffers.isEmpty ? nil : router.reportDiffers
      all.append((.datasetConflict, facts(.reportsConflict, differs: differs)))
    }
  }

  /// The record of a router has no credentials, or it has announced itself with a dataset that is not complete.
  private func addMissing(to all: inout Holding) {
    guard router.source == .mqtt, !router.hasNoNetwork, router.credential == .missing || !router.lacks.isEmpty else {
      return
    }
    var facts = facts(.noDataset)
    facts.otherNames = AlertFacts.Names(lacking: router.lacks)
    all.append((.credentialsMissing, facts))
  }

  private func addOffline(to all: inout Holding) {
    guard var absence = router.absence, !isAwayTogether else { return }
    if absence == .offline(.noNetwork), router.dataset != nil { absence = .lostNetwork(isLast: !hasOthers) }
    var facts = facts(absence)
    if router.source == .mqtt, router.offlineReason == .silent { facts.since = lastSeen }
    if router.hasNoNetwork { facts.adoption = shownAdoption }
    if router.offlineReason == .stopped { facts.adoption = order }
    facts.httpStatus = router.httpStatus
    all.append((.borderRouterOffline, facts))
  }

  /// Its network is the preferred one, or a login has announced it.
  private var isOfHome: Bool { router.source == .mqtt || router.network != nil && router.network == preferred?.network }

  private func addUnknown(to all: inout Holding) {
    guard let former = router.resetFrom else {
      if !router.isKnown, check.isOnPreferred { all.append((.unknownRouter, facts(.joined))) }
      return
    }
    var facts = facts(.wasReset(isOnPreferred: check.isOnPreferred))
    facts.names = .init([ShownName.named(former.name, former.agent, needsID: false)])
    all.append((.unknownRouter, facts))
  }

  /// What its login reported last is what is stored for it: else another alert says so.
  private func addReportsDiffer(to all: inout Holding) {
    guard router.isAnnounced, router.isAdvertised, router.reportDiffers.isEmpty,
      let contradiction = router.reading?.contradiction, contradiction.isConfirmed
    else { return }
    var facts = facts(.reportsDiffer, differs: contradiction.differs)
    facts.user = router.user
    all.append((.reportsDiffer, facts))
  }

  private func addDetached(to all: inout Holding) {
    guard router.isOnline, router.threadState == .detached else { return }
    var facts = facts(.detached)
    facts.since = router.threadStateSince
    facts.adoption = order
    all.append((.routerDetached, facts))
  }

  private func addAdoptionFailed(to all: inout Holding) {
    guard let adoption = router.adoption, adoption.state.hasFailed else { return }
    let isConfigured = hasPreferred && router.credential != .stale
    var facts = facts(.adoptionFailed(adoption.state, isConfiguredForPreferred: isConfigured))
    facts.user = adoption.terms?.user ?? router.user
    facts.hasNoNetwork = router.hasNoNetwork
    all.append((.adoptionFailed, facts))
  }
}

extension AlertFacts.Message {
  /// Of a router's absence: whether nothing shows any more that it is there, as where it has no power.
  var isAway: Bool {
    switch self {
    case .offline(nil), .offline(.silent), .offline(.unreachable), .notSeen(isStopped: false), .silentWithoutNetwork,
      .recordGone:
      true
    default: false
    }
  }
}
