import ThreadDataset

/// A border router, or a border agent id that belongs to a team while its router is not there.
package struct Router: Hashable, Sendable {
  package internal(set) var agent: BorderAgentID

  // Small fields follow an optional time or id, whose padding they fill.

  // MARK: Whose it is

  /// The login that published for it last; nil where none did.
  package var user: ExactName?
  /// The team that stored credentials under this id first. It stays the owner for 30 days after they are gone; no other
  /// team may publish for it.
  package var owner: ExactName?
  /// The team that the id counts for in its limit: the owner, or else that of the login that announced it.
  var team: ExactName?

  // MARK: How it describes itself

  /// What it calls itself.
  package var ownName: String?
  package var vendor: String?
  package var model: String?
  package var extendedAddress: UInt64?

  // MARK: Whether it is there

  /// On the list. Of a router that is not, only whose it is, its credentials and its numbers are kept.
  package var isPresent = false
  package var isOnline = false
  /// It sends heartbeats, or says again and again that it has no network, so its silence means something.
  var beats = false
  /// Nil while it is online, and where it is not known.
  package var offlineReason: OfflineReason?
  package var source = RouterSource.mqtt
  /// Whether its record is on the local network now.
  package var isAdvertised = false
  /// Its agent sends heartbeats, and at the last look no record of it was on the local network.
  var isUnadvertised = false
  package var firstSeenAt: WireTime
  /// Since when it is away; nil while it is not.
  @Boxed var awaySince: WireTime?
  var past = RouterPast()
  /// Its record has gone since its login published last.
  var isRecordGone = false
  /// Whether it was on the preferred network before, has a login, or was accepted by a person.
  package var isKnown = true
  /// Whether a code opens it that nobody has asked for here.
  var isOpenForCode = false

  // MARK: What it runs on

  /// What is stored for it; its secrets lie in the store under the router's record.
  package var dataset: DatasetSummary?
  var credentialCreatedAt: WireTime?
  package var credential = CredentialState.missing
  /// In what the dataset differs that it reported last, where that is a conflict, or older.
  package var reportDiffers: DatasetDifferences = []
  var credentialChangedAt: WireTime?
  package var datasetChangedAt: WireTime?
  /// The preferred network that it was on last.
  var memberOf: ExtendedPANID?
  /// Whether it was seen on the preferred network with the preferred network's own keys, and has stayed on that
  /// Extended PAN ID since. Only such a router can move the preferred network.
  var followsPreferred = false
  /// The network that it reports to be on, whatever its dataset; nil where it does not report that.
  package var currentNetwork: ExtendedPANID?
  package var threadState: ThreadState?
  var threadStateSince: WireTime?
  /// When it reported that last: heartbeats may come without it.
  var threadStateReportedAt: WireTime?
  /// The partition that it is in, as its login reports it.
  var reportedPartition: UInt32?

  // MARK: What is under way

  @Boxed package var adoption: Adoption?
  var order = SequenceWindow()

  /// Nil where it has none of it.
  @Boxed var storedExtras: Extras?

  /// What most routers of a large home have none of. It lies apart: a router is small without it, and copied fast.
  package struct Extras: Hashable, Sendable {
    /// The Network Key that it had before those that it has now. Nil while it has had no other one.
    @Boxed var formerKey: FormerKey?
    /// When its credentials went; nil while it has some.
    var credentialsGoneAt: WireTime?
    /// The name that a person has given it, or has let it keep after a reset.
    package var givenName: String?
    /// Where its record was last on the local network.
    var endpoint: String?
    package var accessPoint: String?
    package var ssid: String?
    /// What the dataset lacks that it announced itself with last. It is stored where a Matter device can attach with
    /// it, and no complete one is stored.
    var lacks: [TLVType] = []
    /// What is known of it by reading it.
    @Boxed package var reading: ReadingNote?
    /// The network that a person has accepted it on last, though it was on the preferred one before.
    var acceptedOn: ExtendedPANID?
    /// What its REST interface answered, where that is why it is offline.
    var httpStatus: UInt16?
    /// The login that sees it, where the daemon does not.
    var reporter: ExactName?
    /// What its record said of its network last, where only that says it.
    @Boxed var advertised: Advertised?
    /// The partition that it is in, by its record; nil where that does not say, or there is none.
    var partition: UInt32?
    /// As `1.3.0`.
    package var threadVersion: String?
    /// What its record says now of its off-mesh routable prefix, and of whether it can share by a code.
    package var offMeshPrefix: UInt64?
    package var sharesByCode: Bool?
    /// Until when a code is valid that somebody has asked for here.
    var askedCodeEndsAt: WireTime?
    /// What it was before it was reset, until a person has said that it is the same.
    @Boxed var resetFrom: FormerRouter?
  }

  /// What its record on the local network says of its network.
  struct Advertised: Hashable, Sendable {
    var network: ExtendedPANID
    var networkName: String?
    /// Seconds of its active timestamp; nil while it is not attached.
    var activeSeconds: UInt64?
  }

  /// A router that was a member of the preferred network, and was probably reset.
  package struct FormerRouter: Hashable, Sendable {
    package let agent: BorderAgentID
    package let name: String?
    let memberOf: ExtendedPANID
  }

  package init(_ agent: BorderAgentID, at now: WireTime) {
    self.agent = agent
    firstSeenAt = now
  }
}

extension Router {
  package var extras: Extras {
    get { storedExtras ?? Extras() }
    set { storedExtras = newValue == Extras() ? nil : newValue }
  }

  var hasExtras: Bool { !_storedExtras.isAbsent }

  var formerKey: FormerKey? { storedExtras?.formerKey }
  var credentialsGoneAt: WireTime? { storedExtras?.credentialsGoneAt }
  var givenName: String? { storedExtras?.givenName }
  var endpoint: String? { storedExtras?.endpoint }
  package var accessPoint: String? { storedExtras?.accessPoint }
  package var ssid: String? { storedExtras?.ssid }
  package var lacks: [TLVType] { storedExtras?.lacks ?? [] }
  package var reading: ReadingNote? { storedExtras?.reading }
  var acceptedOn: ExtendedPANID? { storedExtras?.acceptedOn }
  package var reporter: ExactName? { storedExtras?.reporter }
  var advertised: Advertised? { storedExtras?.advertised }
  var partition: UInt32? { storedExtras?.partition }
  package var threadVersion: String? { storedExtras?.threadVersion }
  package var offMeshPrefix: UInt64? { storedExtras?.offMeshPrefix }
  package var sharesByCode: Bool? { storedExtras?.sharesByCode }
  package var resetFrom: FormerRouter? { storedExtras?.resetFrom }
  package internal(set) var httpStatus: UInt16? {
    get { storedExtras?.httpStatus }
    set { if newValue != httpStatus { extras.httpStatus = newValue } }
  }

  /// By which it is shown everywhere.
  package var name: String? { givenName ?? ownName }

  /// Its IP address when it was last on the local network.
  package var address: String? { endpoint.map { String($0.prefix { $0 != "," }) } }

  /// Whether a login of the broker has announced it, and it has not left.
  var isAnnounced: Bool { isPresent && source == .mqtt }

  /// Whether no login, and no program that stored something for it, says where it is.
  var isOnlySeen: Bool { source == .mdns && (dataset == nil || isRead) }

  /// The network that it counts for: the one that it is configured for; where that is not known, the one that its
  /// record or its login says it is on.
  package var network: ExtendedPANID? { dataset?.network ?? (source == .mdns ? advertised?.network : currentNetwork) }

  /// Where it is, as far as that is known: on the network that it reports, else on the one that it counts for.
  var actualNetwork: ExtendedPANID? { currentNetwork ?? network }

  package var networkName: String? {
    if let dataset { return dataset.name }
    return source == .mdns ? advertised?.networkName : nil
  }

  package var activeSeconds: UInt64? {
    if let dataset { return dataset.activeSeconds }
    return source == .mdns ? advertised?.activeSeconds : nil
  }

  /// Whether it runs on another network than the one it is configured for.
  package var isElsewhere: Bool {
    guard let currentNetwork, let network else { return false }
    return currentNetwork != network
  }

  /// Whether its Thread is off because it has never been on a network.
  var hasNoNetworkYet: Bool {
    (source == .mqtt ? hasNoNetwork : offlineReason == .stopped) && dataset == nil && datasetChangedAt == nil
  }

  /// Whether a login has announced it that publishes nothing for it now.
  var isAgentSilent: Bool { isAnnounced && !isOnline && (offlineReason == nil || offlineReason == .silent) }

  /// Whether its agent said last that it has no network: it is new, or has lost the one that its stored dataset is for.
  /// That holds while the agent is silent, until something says where the router is.
  package var hasNoNetwork: Bool {
    offlineReason == .noNetwork || offlineReason == .silent && threadState == .disabled && currentNetwork == nil
  }

  /// Whether what is sent to it arrives.
  var isReached: Bool { isOnline || offlineReason == .noNetwork }

  /// Why it is not there, where that is an alert. A guest's hub, or a speaker on a network of its own, may go without
  /// one.
  var absence: AlertFacts.Message? {
    guard !isOnline else { return !beats && isRecordGone ? .recordGone : nil }
    guard !isVisitor else { return nil }
    if source == .mdns { return .notSeen(isStopped: offlineReason == .stopped) }
    if isAgentSilent, isAdvertised { return .agentSilent(offlineReason) }
    return hasNoNetwork && !isReached ? .silentWithoutNetwork : .offline(offlineReason)
  }

  /// Whether nothing shows any more that it is there, as where it has no power.
  var isAway: Bool { absence?.isAway == true }

  /// Whether the local network alone has it, and it was never on a preferred network.
  var isVisitor: Bool { isOnlySeen && memberOf == nil }

  /// Whether it takes part in a network, as far as it reports that.
  func isAttached(to network: ExtendedPANID) -> Bool {
    (currentNetwork == nil || currentNetwork == network) && threadState?.isAttached != false
  }

  /// Whether it says in which part of its network it is.
  var mayBeInSplit: Bool { shownPartition != nil || threadState == .leader }

  /// What it reports of its Thread interface, as far as that says what is now: of a router that cannot be reached only
  /// that its Thread is off.
  package var shownThreadState: ThreadState? { isOnline || threadState == .disabled ? threadState : nil }

  package var shownThreadStateSince: WireTime? { shownThreadState == nil ? nil : threadStateSince }

  package var shownPartition: UInt32? {
    isOnline && threadState?.isAttached != false ? reportedPartition ?? partition : nil
  }

  /// Whether it was sent the preferred credentials and has yet to show that it is attached with them.
  var mustAttach: Bool { adoption?.state.mayBeConfirmed == true && threadState?.isAttached == false }

  /// Equal in all that is published or checked; numbers and reports of the same state apart.
  consuming func looksTheSame(as other: Router) -> Bool {
    threadStateReportedAt = other.threadStateReportedAt
    order = other.order
    beats = other.beats
    return self == other
  }
}

// MARK: - What it reports

extension Router {
  /// Takes over what an event says of where it is, which also shows that the router is online.
  ///
  /// A heartbeat without these fields leaves them as they are. An announcement describes the router as a whole: what it
  /// leaves out is not known any more, so a publisher that never reports them is checked by its datasets alone.
  mutating func takeThreadReport(_ report: ThreadReport, isWhole: Bool, bringsDataset: Bool = false, at now: WireTime) {
    // That Thread is off is no news of a router that has no network.
    let hadNoNetwork =
      hasNoNetwork
      || isAnnounced && dataset == nil && datasetChangedAt == nil && currentNetwork == nil && offlineReason != .stopped
    // What its record said meanwhile is over.
    if isAgentSilent, isAdvertised { currentNetwork = nil }
    isRecordGone = false
    isOnline = true
    (offlineReason, httpStatus) = (nil, nil)
    // A router that can be reached and reports no more was restarted.
    if report.state != nil || isWhole || threadState == .disabled { setThreadState(report.state, at: now) }
    if threadState == .disabled {
      // The agent of a stopped router continues to name the previous network.
      takeOffline(hadNoNetwork && !bringsDataset ? .noNetwork : .stopped, at: now)
    } else if isWhole || report.network != nil {
      let isPlaceholder = report.network == .placeholder && report.state?.isAttached != true
      currentNetwork = isPlaceholder ? nil : report.network
    }
    if isWhole || report.partition != nil || report.state?.isAttached == false { reportedPartition = report.partition }
  }

  mutating func takeOffline(_ reason: OfflineReason?, httpStatus: UInt16? = nil, at now: WireTime) {
    isOnline = false
    offlineReason = reason
    reportedPartition = nil
    self.httpStatus = reason == .failing ? httpStatus : nil
    guard reason == .stopped || reason == .noNetwork else { return }
    setThreadState(.disabled, at: now)
    // Thread that is off is on no network, whatever was reported before.
    currentNetwork = nil
  }

  private mutating func setThreadState(_ state: ThreadState?, at now: WireTime) {
    threadStateReportedAt = state.map { _ in now }
    guard state != threadState else { return }
    threadState = state
    threadStateSince = state.map { _ in now }
  }

  /// It is on the preferred network now. What a login says without a dataset makes no member: it may say anything.
  mutating func noteMember(of preferred: ExtendedPANID?, before: StoredRouter?) {
    guard dataset != nil || source == .mdns else { return }
    // The network became the preferred one around it.
    if memberOf != preferred, let before, before.isPresent, before.network == network { isKnown = true }
    memberOf = preferred
  }

  /// - Parameter preferred: the Network Key of the preferred network.
  mutating func store(_ dataset: DatasetSummary, follows: Bool, preferred: Hash128?, at now: WireTime) {
    if self.dataset == nil { credentialCreatedAt = now }
    noteFormerKey(next: dataset, preferred: preferred, at: now)
    self.dataset = dataset
    followsPreferred = follows
    credentialChangedAt = now
    noteCredentials(goneAt: nil)
  }

  /// Whether a router without credentials of its own is on a network whose credentials are here all the same.
  mutating func noteShared(preferred: DatasetSummary?) {
    guard credential == .missing || credential == .shared else { return }
    let isShared =
      isOnlySeen && network == preferred?.network && preferred?.hasCredentials == true && !refuses(preferred)
    credential = isShared ? .shared : .missing
  }

  /// Its credentials go; the id continues to belong to its team.
  ///
  /// - Parameter preferred: as that of `store`.
  mutating func dropCredentials(preferred: Hash128?, at now: WireTime) {
    noteFormerKey(next: nil, preferred: preferred, at: now)
    noteCredentials(goneAt: now)
    dataset = nil
    credential = .missing
    credentialCreatedAt = nil
    credentialChangedAt = nil
    followsPreferred = false
  }

  /// - Parameter time: nil: they have come.
  private mutating func noteCredentials(goneAt time: WireTime?) {
    if time == nil, !hasExtras { return }
    extras.credentialsGoneAt = time
    extras.reading?.forgetDataset()
  }
}

/// A Network Key that a router had. Of a former member of the preferred network it counts against other keys for a
/// while, whatever the router has done since: see `PreferredDecision`.
struct FormerKey: Hashable, Sendable {
  /// Seconds for which it counts.
  static let retention = 30 * 86_400

  let key: Hash128
  /// When the router had it last, or claimed other keys as a member last.
  var until: WireTime

  func counts(for preferred: Hash128?, at now: WireTime) -> Bool { key == preferred && now < end }

  var end: WireTime { until.adding(seconds: Self.retention) }
}

extension Router {
  /// A claim of a member that nobody has agreed to does not take the place of the key that it had.
  fileprivate mutating func noteFormerKey(next: DatasetSummary?, preferred: Hash128?, at now: WireTime) {
    guard let dataset, let key = dataset.parameters?.networkKey,
      next?.network != dataset.network || next?.parameters?.networkKey != key
    else { return }
    guard key != preferred, let former = formerKey, former.key == preferred else {
      extras.formerKey = FormerKey(key: key, until: now)
      return
    }
    if followsPreferred { extras.formerKey?.until = now }
  }
}

extension ExtendedPANID {
  /// That of an OpenThread to which no dataset was ever given. Some people form a network with it.
  package static let placeholder = ExtendedPANID(number: 0xDEAD_00BE_EF00_CAFE)
}

/// What a router says of its Thread interface.
package struct ThreadReport: Hashable, Sendable {
  package var state: ThreadState?
  /// The network that it is on.
  package var network: ExtendedPANID?
  package var partition: UInt32?

  package init(state: ThreadState? = nil, network: ExtendedPANID? = nil, partition: UInt32? = nil) {
    self.state = state
    self.network = network
    self.partition = partition
  }

  /// Whether a heartbeat with it says what is known of a router that is online.
  func isNoNews(of router: borrowing Router) -> Bool {
    (state == nil || state == router.threadState) && (network == nil || network == router.currentNetwork)
      && (partition == nil || partition == router.reportedPartition)
  }
}

// MARK: - Its record on the local network

extension Router {
  /// What an advertisement changes of a router. Credentials, owner and login stay as they are, and of a router that a
  /// login has announced everything that its events describe.
  mutating func take(_ advertisement: Advertisement, at now: WireTime) {
    isAdvertised = true
    isRecordGone = false
    extras.take(advertisement)
    // What it refused was the PSKc of another network.
    if source == .mdns, advertisement.network != actualNetwork { extras.reading?.refusals = nil }
    // A code is valid for ten minutes at most.
    let isAskedFor = extras.askedCodeEndsAt.map { now < $0 && $0 <= now.adding(seconds: 600) } ?? false
    isOpenForCode = advertisement.codePort != nil && !isAskedFor
    isUnadvertised = false
    switch source {
    case .mdns:
      ownName = advertisement.name ?? ownName
      vendor = advertisement.vendor ?? vendor
      model = advertisement.model ?? model
      extendedAddress = advertisement.extendedAddress ?? extendedAddress
      if advertisement.isThreadActive {
        isOnline = true
        (offlineReason, httpStatus) = (nil, nil)
        setThreadState(advertisement.role, at: now)
        // A record outlives its router in caches: of two leaders one may be gone.
        threadStateReportedAt = nil
      } else {
        takeOffline(.stopped, at: now)
      }
      if dataset == nil {
        currentNetwork = nil
        takeNetwork(of: advertisement, at: now)
      } else {
        // What is stored for it says what it is configured for, its record where it is.
        currentNetwork = advertisement.isThreadActive ? advertisement.network : nil
      }
    case .mqtt:
      vendor = vendor ?? advertisement.vendor
      model = model ?? advertisement.model
      // While its agent is silent, only its record says where it is.
      if isAgentSilent { currentNetwork = advertisement.isThreadActive ? advertisement.network ?? currentNetwork : nil }
    }
    let isThere = advertisement.isThreadActive && advertisement.network == currentNetwork ?? network
    extras.partition = isThere ? advertisement.partition : nil
  }

  private mutating func takeNetwork(of advertisement: Advertisement, at now: WireTime) {
    let before = advertised
    // The timestamp is missing while it is not attached.
    let seconds =
      advertisement.activeSeconds ?? (advertisement.network == before?.network ? before?.activeSeconds : nil)
    // Thread that is off is on no network.
    let network = advertisement.isThreadActive ? advertisement.network : nil
    extras.advertised = network.map {
      Advertised(network: $0, networkName: advertisement.networkName, activeSeconds: seconds)
    }
    if advertised?.network != before?.network || advertised?.activeSeconds != before?.activeSeconds {
      datasetChangedAt = now
    }
  }

  /// Its record has gone, or has expired: it restarts, or is off. It has not left.
  mutating func endAdvertisement(at now: WireTime) {
    withdrawAdvertisement()
    if source == .mdns { takeOffline(nil, at: now) } else { isRecordGone = true }
  }

  /// For the one that it is after a reset; nil where it was no member.
  var asReset: FormerRouter? { resetFrom ?? memberOf.map { FormerRouter(agent: agent, name: name, memberOf: $0) } }

  /// A person says that it is the router that was reset: it keeps its name.
  mutating func endReset() {
    guard let former = resetFrom else { return }
    extras.resetFrom = nil
    if givenName == nil, former.name != ownName { extras.givenName = former.name }
    memberOf = memberOf ?? former.memberOf
  }

  /// Nothing is known of its record any more.
  mutating func withdrawAdvertisement() {
    isAdvertised = false
    isRecordGone = false
    isOpenForCode = false
    isUnadvertised = false
    extras.withdrawAdvertisement()
    if isAgentSilent { currentNetwork = nil }
  }
}

extension Router.Extras {
  fileprivate mutating func take(_ advertisement: Advertisement) {
    reporter = advertisement.reporter
    endpoint = advertisement.endpoint ?? endpoint
    threadVersion = advertisement.threadVersion ?? threadVersion
    (offMeshPrefix, sharesByCode) = (advertisement.offMeshPrefix, advertisement.sharesByCode)
  }

  fileprivate mutating func withdrawAdvertisement() {
    (reporter, partition, offMeshPrefix, sharesByCode) = (nil, nil, nil, nil)
  }
}
