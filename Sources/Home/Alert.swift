import ThreadDataset
import ThreadkeeperSupport

/// What can be wrong, by the names that dashboards and automations see. The raw values are stored and never reused.
package enum AlertName: UInt8, CaseIterable, Sendable {
  case preferredNetworkMismatch = 0
  case datasetConflict = 1
  case staleDataset = 2
  case credentialsMissing = 3
  case borderRouterOffline = 4
  case wellKnownNetworkKey = 5
  case noPreferredNetwork = 6
  case plaintextCredentials = 7
  case messagesDropped = 8
  case sessionLost = 9
  /// In no record: a store that cannot be written cannot hold it.
  case storeReadOnly = 10
  case brokerAuthenticationFailed = 11
  case adoptionFailed = 12
  case routerDetached = 13
  case preferredKeyDisputed = 14
  case preferredNetworkChanged = 15
  case homeMoved = 16
  case sessionTakenOver = 17
  case storeDamaged = 18
  case networkSplit = 19
  case unknownRouter = 20
  case consentByHomeAssistant = 21
  case discoveryAltered = 25
  case homeAssistantDiffers = 26
  case stateAltered = 27
  case anotherDaemon = 28
  case anchorAltered = 29
  case preferredNetworkEmpty = 30
  case routerNotAdvertised = 31
  case credentialSharingOpen = 32
  case homeOffline = 33
  case agentNotWorking = 34
  case networkChanges = 35
  case reportsDiffer = 36
  case testAlert = 37
  case threadPathBroken = 38
  case zigbeeSharesChannel = 39
  case ghostNetwork = 40
  case matterServerDiffers = 41

  /// What holds for all alerts of a name.
  struct Traits {
    /// Where the facts say nothing else: see `AlertKey.severity`.
    let severity: AlertSeverity
    /// About one border router.
    var isOfRouter = false
    /// Whether its condition has to last for the setting `alerts.hold` before it is published. Routers that change
    /// together do not disagree for long.
    var isHeld = true
    /// Seconds without a change after which a notice resolves by itself; nil: it ends with its condition.
    var noticeDuration: Int?
  }

  var traits: Traits {
    switch self {
    case .preferredNetworkMismatch, .staleDataset, .credentialsMissing, .borderRouterOffline, .routerDetached,
      .unknownRouter, .credentialSharingOpen, .reportsDiffer:
      Traits(severity: .warning, isOfRouter: true)
    case .datasetConflict, .wellKnownNetworkKey: Traits(severity: .critical, isOfRouter: true)
    case .adoptionFailed: Traits(severity: .warning, isOfRouter: true, isHeld: false)
    case .routerNotAdvertised: Traits(severity: .info, isOfRouter: true)
    case .noPreferredNetwork, .preferredKeyDisputed, .homeMoved, .networkSplit, .homeAssistantDiffers,
      .preferredNetworkEmpty, .homeOffline, .agentNotWorking, .threadPathBroken, .matterServerDiffers:
      Traits(severity: .warning)
    case .plaintextCredentials, .zigbeeSharesChannel: Traits(severity: .info)
    case .messagesDropped, .sessionLost: Traits(severity: .warning, isHeld: false)
    case .storeReadOnly, .brokerAuthenticationFailed, .sessionTakenOver, .anotherDaemon:
      Traits(severity: .critical, isHeld: false)
    case .storeDamaged, .discoveryAltered, .stateAltered, .anchorAltered:
      Traits(severity: .critical, isHeld: false, noticeDuration: 86_400)
    case .consentByHomeAssistant, .networkChanges, .ghostNetwork: Traits(severity: .info, isHeld: false)
    case .testAlert: Traits(severity: .warning, isHeld: false, noticeDuration: 600)
    // Held while routers disagree.
    case .preferredNetworkChanged: Traits(severity: .warning, isHeld: false, noticeDuration: 86_400)
    }
  }

  static let ofRouters = allCases.filter(\.traits.isOfRouter)

  func isHeld(_ message: AlertFacts.Message?) -> Bool {
    if case (.preferredNetworkChanged, .preferredChanged(_, disagrees: true)) = (self, message) { return true }
    return traits.isHeld
  }
}

/// What an alert is about.
package enum AlertSubject: Hashable, Comparable, Sendable {
  /// The home, or the daemon itself.
  case home
  case router(BorderAgentID)
  /// A user of the broker: a program with one login publishes for all its routers.
  case user(ExactName)
  case network(ExtendedPANID)
}

package struct AlertKey: Hashable, Sendable {
  package let name: AlertName
  package let subject: AlertSubject

  package init(_ name: AlertName, _ subject: AlertSubject = .home) {
    self.name = name
    self.subject = subject
  }

  package func _rawHashValue(seed: Int) -> Int {
    let subject =
      switch subject {
      case .home: 0
      case .router(let agent): agent._rawHashValue(seed: 1)
      case .user(let user): user._rawHashValue(seed: 2)
      case .network(let network): network._rawHashValue(seed: 3)
      }
    return TableHash.mix(UInt64(name.rawValue), UInt64(truncatingIfNeeded: subject), seed: seed)
  }
}

extension AlertKey: Comparable {
  /// The order of what happens to several alerts at once.
  package static func < (a: AlertKey, b: AlertKey) -> Bool {
    (a.name.rawValue, a.subject) < (b.name.rawValue, b.subject)
  }
}

/// What an alert says, as values: the sentences are made of it when it is published. Holds names, never secrets.
package struct AlertFacts: Hashable, Sendable {
  package var message: Message
  package var router: BorderAgentID?
  package var routerName: String?
  /// Others look so named.
  package internal(set) var routerNeedsID = false
  /// The network that it is about.
  package var network: Named?
  /// The network that the router is configured for, where it is on another one.
  package var configured: Named?
  /// Its router is on no network: `network` is the one that it had.
  package internal(set) var hasNoNetwork = false
  package var preferred: Named?
  package var user: ExactName?
  package var differs: DatasetDifferences?
  package var since: WireTime?
  /// What the REST interface of a router that is offline answers.
  package var httpStatus: UInt16?
  /// How far the router's adoption is: that changes what is to be done.
  package var adoption: AdoptionState?
  /// As `message` says.
  package var names = Names()
  package var otherNames = Names()
  package var trigger: Trigger?

  /// A network as people know it.
  package struct Named: Hashable, Sendable {
    package let id: ExtendedPANID
    /// Empty where it is not known.
    package let name: String
    /// Others look so named.
    package internal(set) var needsID = false

    /// In a sentence.
    package var shown: String { ShownName.named(name, id, needsID: needsID) }

    func looks(like other: Named) -> Bool {
      let look = ShownName.cleaned(name)
      return !look.isEmpty && look == ShownName.cleaned(other.name)
    }
  }

  /// Names as a sentence has them: the first ones, and how many there are in all.
  package struct Names: Hashable, Sendable {
    static let most = 3

    package let first: [String]
    package let count: Int
  }

  /// Which sentence it is.
  package enum Message: Hashable, Sendable {
    // A mismatch with the preferred network.
    /// It runs on another network than the one that it is configured for.
    case elsewhere(isConfiguredForPreferred: Bool)
    /// It has the preferred credentials that it was sent, and is not attached yet.
    case notAttached
    /// Only its record says where it is, and it was never on the preferred network.
    case neverMember
    case otherNetwork
    /// The preferred network's Extended PAN ID with other credentials.
    case otherCredentials
    // Age.
    case behind
    case reportsOlder
    case sameAge
    case reportsConflict
    // Other alerts of a router.
    /// - otherNames: what the dataset lacks that it has announced itself with; none: it has named no dataset.
    case noDataset
    case offline(OfflineReason?)
    /// It has lost its network. One that never had one here is offline for that reason.
    /// - isLast: no other border router is online there.
    case lostNetwork(isLast: Bool)
    /// Its login is silent, and had said that it has no network.
    case silentWithoutNetwork
    /// A router that was only seen is not seen any more, or says that its Thread is off.
    case notSeen(isStopped: Bool)
    /// Its record is on the local network, and its login is silent.
    case agentSilent(OfflineReason?)
    /// Its login sends no heartbeats, and its record has gone.
    case recordGone
    /// `names` of so many went together and cannot be reached; the others of these are there.
    case awayTogether(routers: Int, of: Int)
    case detached
    /// Its agent says that it works, and no record of it is on the local network.
    case notAdvertised
    case wellKnownKey
    /// It has joined the preferred network and was not there before.
    case joined
    /// It came in the place of `names`, with another id: it was probably reset.
    case wasReset(isOnPreferred: Bool)
    /// It has itself another dataset than `user` reports.
    case reportsDiffer
    /// Somebody can get its credentials with a code that nobody has asked for here.
    case openForCode
    case adoptionFailed(AdoptionState, isConfiguredForPreferred: Bool)
    // Alerts of the home.
    /// - networks: how many its routers are on; `names` and their ids are the first ones. `user` prefers `network`,
    ///   and none of them is there.
    case noPreferred(isForgotten: Bool, networks: [Named], more: Int)
    case plaintext
    /// What changes, where that is no secret, at `since`.
    case networkChanges(channel: UInt16?, name: String?)
    /// `names` claim other keys, `otherNames` use the current ones.
    case keysDisputed(claimed: UInt64?, current: UInt64?, departed: Names, hasDamage: Bool)
    /// `names` have other parameters. `user` shares them, where no router reports them.
    indirect case preferredChanged(PreferredChange, disagrees: Bool)
    /// So many of the members are on `network`, `names` as the logins `otherNames` report. Of the others, `lost` cannot
    /// be reached.
    case movedTo(routers: Int, of: Int, lost: Int)
    /// So many border routers are on `network`, and so many on others.
    case preferredEmpty(routers: Int, elsewhere: Int)
    /// The routers of the first ones of so many parts. Nobody has accepted `otherNames`, which are parts of their own:
    /// they may have another key.
    case split([Names], parts: Int)
    // About credentials that a login shares: `names` is what people call it.
    /// It prefers `network`, and the home another one.
    case otherPreferred
    /// What it shares lacks `otherNames` to be complete.
    case sharedPartial
    /// Its dataset of the preferred network is older.
    case sharedOlder
    /// Its dataset of the preferred network is of the same age and differs, or its timestamp is too far ahead.
    case sharedConflict
    /// No border router is on `network`, which it has, since `since`.
    /// - isAsked: a person is asked whether it is deleted there.
    case ghostNetwork(isAsked: Bool)
    /// It names `router` for `network`, which is not there since `since`; `otherNames` is.
    /// - isAsked: a person is asked whether that one is named there.
    case ghostAgent(isAsked: Bool)
    /// The programs `names` of a login don't do their work: the first one says why, or is silent. It did until `since`.
    case agentNotWorking(String?)
    /// A Matter server lacks what the home prefers, as the agent says that gives it: the first of `names`. It had that
    /// until `since`.
    case matterServerDiffers(String)
    /// The daemon's own: `names` are its summary and its remedy.
    case daemon

    /// Whether the router of such an alert needs the preferred credentials, once it is raised.
    func isMismatch(_ name: AlertName) -> Bool {
      switch self {
      case .lostNetwork, .offline(.noNetwork), .behind, .reportsOlder: true
      default: name == .preferredNetworkMismatch
      }
    }
  }

  /// What has set or changed an alert.
  package enum Trigger: UInt8, Hashable, Sendable, CaseIterable {
    case announce, dataset, heartbeat, offline, ssid, ssidChanged, preferredChanged, request, deleted
    case silence, mdns, accepted, adoption
  }

  /// All networks that it names.
  var networks: [Named] {
    var all: [Named] = []
    var copy = self
    copy.changeNetworks { all.append($0) }
    return all
  }

  mutating func changeNetworks(_ change: (inout Named) -> Void) {
    func changeOne(_ one: inout Named?) {
      guard var network = one else { return }
      change(&network)
      one = network
    }
    changeOne(&network)
    changeOne(&configured)
    changeOne(&preferred)
    switch message {
    case .preferredChanged(var one, let disagrees):
      change(&one.from)
      change(&one.to)
      message = .preferredChanged(one, disagrees: disagrees)
    case .noPreferred(let isForgotten, var networks, let more):
      for index in networks.indices { change(&networks[index]) }
      message = .noPreferred(isForgotten: isForgotten, networks: networks, more: more)
    default: break
    }
  }

  /// Whether its network looks as if it were the preferred one.
  package var looksPreferred: Bool {
    guard let network, let preferred, network.id != preferred.id else { return false }
    return network.looks(like: preferred)
  }

  /// Equal but for what brought it up: then there is nothing new to publish.
  func saysTheSame(as other: AlertFacts) -> Bool {
    var copy = self
    copy.trigger = other.trigger
    return copy == other
  }
}

extension AlertFacts { package init(_ message: Message) { self.init(message: message) } }

extension AlertFacts.Named {
  init(_ id: ExtendedPANID, _ name: String?) { self.init(id: id, name: name ?? "") }

  init(_ dataset: DatasetSummary) { self.init(id: dataset.network, name: dataset.name) }
}

extension AlertFacts.Names {
  package init(_ all: [String] = []) { self.init(first: Array(all.prefix(Self.most)), count: all.count) }

  /// All that a dataset lacks.
  init(lacking types: [TLVType]) { self.init(first: types.map(\.name), count: types.count) }
}

/// How the preferred network became another one, for the alert about it.
package struct PreferredChange: Hashable, Sendable {
  package internal(set) var from: AlertFacts.Named
  package internal(set) var to: AlertFacts.Named
  package let differs: DatasetDifferences
  /// It was preferred by its Extended PAN ID alone before.
  package let bringsCredentials: Bool
  package let cause: PreferredCause
  /// Who reports it, or has chosen it.
  package let who: String?
  /// The second router that reports it.
  package let second: String?
  /// Under which the former network is kept; nil where it is not.
  package let formerID: UInt32?
  /// Nil where only the Extended PAN ID is known.
  package var fromRadio: Radio?
  package var toRadio: Radio?

  /// Where a network is on the air.
  package struct Radio: Hashable, Sendable {
    package let channel: UInt16
    package let panID: UInt16
  }

  /// Whether the home has other keys now than it had.
  package var hasNewKeys: Bool {
    !bringsCredentials && (from.id != to.id || !differs.isDisjoint(with: [.networkKey, .pskc]))
  }

  /// Whether one reporter was enough for them.
  package var hasUnconfirmedKeys: Bool { hasNewKeys && cause.isUnconfirmed }
}

/// How much an alert matters, the worst first.
package enum AlertSeverity: UInt8, Sendable, CaseIterable { case critical, warning, info }

extension AlertKey {
  package func severity(_ facts: AlertFacts) -> AlertSeverity {
    switch (name, facts.message) {
    case (.adoptionFailed, .adoptionFailed(.denied, _)): .info
    case (.preferredNetworkMismatch, .neverMember): facts.looksPreferred ? .warning : .info
    case (.borderRouterOffline, .lostNetwork(isLast: true)): .critical
    case (.preferredNetworkChanged, .preferredChanged(let change, let disagrees)):
      disagrees || change.hasUnconfirmedKeys ? .warning : .info
    case (.noPreferredNetwork, .noPreferred(_, let networks, _)):
      networks.count > 1 || facts.user != nil ? .warning : .info
    default: name.traits.severity
    }
  }
}

/// An alert that is held, fires, or was resolved within the last day.
///
/// | phase | the condition holds | it does not |
/// |---|---|---|
/// | none, resolved | held; fires at once where nothing has to last | |
/// | held | fires when it has lasted long enough; before, other facts are noted | gone, or resolved as before |
/// | firing | updated where the facts are new | resolved |
package struct Alert: Hashable, Sendable {
  /// Seconds for which a resolved alert stays published.
  package static let resolvedRetention = 86_400

  package enum Phase: UInt8, Hashable, Sendable {
    /// The condition holds, but not long enough yet. Nothing is published.
    case held
    case firing
    case resolved
  }

  package internal(set) var phase: Phase
  /// What was published last, or will be published first.
  @Apart package internal(set) var facts: AlertFacts
  /// The next facts of a resolved alert whose condition holds again, if that lasts.
  @Boxed var heldFacts: AlertFacts? = nil
  /// When the condition began.
  package internal(set) var heldSince: WireTime
  package internal(set) var startsAt: WireTime?
  package internal(set) var updatedAt: WireTime
  package internal(set) var endsAt: WireTime?
  /// Counts what was published about it.
  package internal(set) var sequence: UInt32 = 0

  /// Whether it was published: it fires, or it fired and its condition may hold again.
  package var wasPublished: Bool { phase != .held || endsAt != nil }

  /// What becomes of it is published, where it is new.
  package enum News: UInt8, Hashable, Sendable, CaseIterable { case raised = 1, updated, resolved }

  /// A condition that begins.
  ///
  /// - Parameter hold: seconds for which it has to last.
  static func began(_ facts: AlertFacts, hold: Int, at now: WireTime) -> (Alert, News?) {
    var alert = Alert(phase: .held, facts: facts, heldSince: now, updatedAt: now)
    let news = hold == 0 ? alert.raise(at: now) : nil
    return (alert, news)
  }

  /// Brings it in line with whether its condition holds now.
  ///
  /// - Returns: what is published, and whether anything has changed.
  mutating func set(_ wanted: AlertFacts?, hold: Int, at now: WireTime) -> (news: News?, isChanged: Bool) {
    if isAsWanted(wanted, hold: hold, at: now) { return (nil, false) }
    let before = self
    let news = change(wanted, hold: hold, at: now)
    return (news, self != before)
  }

  /// Whether nothing is to be changed: most messages say what is known.
  func isAsWanted(_ wanted: AlertFacts?, hold: Int, at now: WireTime) -> Bool {
    guard let wanted else { return phase == .resolved }
    switch phase {
    case .resolved: return false
    case .held: return heldSince.adding(seconds: hold) > now && (heldFacts ?? facts).saysTheSame(as: wanted)
    case .firing: return facts.saysTheSame(as: wanted)
    }
  }

  private mutating func change(_ wanted: AlertFacts?, hold: Int, at now: WireTime) -> News? {
    guard let wanted else {
      switch phase {
      case .resolved: return nil
      case .held:
        // Without a publication before, there is nothing to keep: the caller removes it.
        phase = .resolved
        heldFacts = nil
        return nil
      case .firing:
        phase = .resolved
        endsAt = now
        return publish(.resolved, at: now)
      }
    }
    let isNews = !(heldFacts ?? facts).saysTheSame(as: wanted)
    switch phase {
    case .resolved:
      note(wanted)
      heldSince = now
      if hold == 0 { return raise(at: now) }
      phase = .held
    case .held:
      let isDue = heldSince.adding(seconds: hold) <= now
      if isNews || isDue { note(wanted) }
      if isDue { return raise(at: now) }
    case .firing:
      guard isNews else { return nil }
      facts = wanted
      return publish(.updated, at: now)
    }
    return nil
  }

  private mutating func note(_ wanted: AlertFacts) { if wasPublished { heldFacts = wanted } else { facts = wanted } }

  /// Its condition has lasted long enough.
  mutating func raise(at now: WireTime) -> News {
    if let heldFacts { facts = heldFacts }
    heldFacts = nil
    phase = .firing
    startsAt = heldSince
    endsAt = nil
    return publish(.raised, at: now)
  }

  private mutating func publish(_ news: News, at now: WireTime) -> News {
    sequence += 1
    updatedAt = now
    return news
  }
}

extension Alert {
  /// One that no record has, for lists.
  package init(shown facts: AlertFacts, since: WireTime, updatedAt: WireTime, endsAt: WireTime?, sequence: UInt32) {
    self.init(
      phase: endsAt == nil ? .firing : .resolved, facts: facts, heldSince: since, startsAt: since, updatedAt: updatedAt,
      endsAt: endsAt, sequence: sequence)
  }
}

extension Home {
  /// Puts an alert into a copy that is shown. The home itself decides nothing by it, and no record has it.
  package mutating func show(_ alert: Alert, as key: AlertKey) { alerts[key] = alert }
}
