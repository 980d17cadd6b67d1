import Broker
import Home
import ThreadDataset

/// What is published about one border router, decided from one look after the other. Pure: the caller brings the time
/// and does the effects.
///
/// A look finds the router *up* (Thread runs), *stopped* (Thread is disabled, the dataset is there), *empty* (disabled,
/// and 204 for the dataset: it has no network) or *silent* (refused, no answer in time, garbage). Nothing is published
/// without a connection to the broker, which is made when the router's id is known.
///
/// | published before | what is found | what follows |
/// |---|---|---|
/// | nothing | up, stopped or empty, no connection for this id | `connect` |
/// | nothing | up or stopped, connected | `announce` |
/// | nothing | empty, connected | `offline`, `no_network`: threadkeeper may know it; before it `announce`, where it takes datasets |
/// | nothing | silent | nothing |
/// | this id | up, another complete dataset | `dataset`, also while detached |
/// | this id | up, another dataset that is not complete | `announce` with it |
/// | this id | up, another network, partition or Thread state; or it was offline | `heartbeat` at once |
/// | this id | up, as before | `heartbeat` when one is due; each hour `announce`, for a daemon that has lost its store |
/// | this id | stopped for the hold | `offline`, `stopped`; with another dataset `dataset` |
/// | this id | empty for the hold | `offline`, `no_network`: it has lost its network, which nobody has wished |
/// | this id | empty, as before | the same when a heartbeat is due; each hour where threadkeeper does not know the router |
/// | this id | silent, stopped or empty for the hold, in any order | `offline`, with the reason once it is stable; never `leave` |
/// | this id | silent, stopped or empty for less | nothing: an agent restarts in 5 s |
/// | this id, or nothing | empty, and `--leave` is given | `leave` after three looks in a row; or nothing |
/// | another id | up, stopped or empty, three times in a row | `leave` for that id, then as for nothing |
/// | another id | and another agent of this process sees that one | no `leave`; then as for nothing |
/// | any | the connection is there again | what holds now, once more: a last will may have said otherwise |
/// | any | threadkeeper does not know the router | `announce` |
/// | any | threadkeeper rejects the dataset itself | `announce` without it, until it changes |
/// | any | threadkeeper rejects another `announce` or `dataset` | none of these for the time of a heartbeat, then `announce` |
/// | any | an order waits or is carried out | no `dataset` for what it changes meanwhile |
/// | any | an order has ended | `dataset` or `announce`, with the reason of a failure; later where there is no connection |
/// | online | the agent stops | `offline` without a reason |
package struct RouterMachine: Sendable {
  /// Times, in seconds and with the reason for each default.
  package struct Rhythm: Sendable {
    /// Between two heartbeats; threadkeeper takes 300 s of silence for offline.
    package var heartbeat = Duration.seconds(60)
    /// For which it has to be silent or stopped: longer than an update or a restart takes.
    package var hold = Duration.seconds(30)
    /// Between two announcements: a daemon that has lost its store does not know the router otherwise.
    var announce = Duration.seconds(3_600)
  }

  /// What is done about a router that has no network.
  enum WhenEmpty: Sendable {
    /// Where threadkeeper knows it, that it has lost its network is an alert.
    case publish
    /// It is announced as well: it can be given a network.
    case announce
    /// It has left.
    case leave
  }

  enum Event: Equatable, Sendable {
    case looked(RouterLook)
    case connected
    case disconnected
    /// threadkeeper's answer to an event: the code of a rejection, and the field to blame.
    case rejected(RouterMessage.Kind, code: String, field: String?)
    /// An adoption has ended: where the router is now is reported, whether it has changed or not, and why it has
    /// failed.
    case reportWanted(AdoptionState?)
    case stopping
  }

  enum Effect: Equatable, Sendable {
    /// Connect to the broker for this router: its last will names it.
    case connect(BorderAgentID)
    case publish(RouterEvent)
    case log(RouterNote)
  }

  /// What threadkeeper knows by the last publications.
  struct Published: Equatable {
    let agent: BorderAgentID
    var dataset: OperationalDataset?
    var network: ExtendedPANID?
    var threadState: ThreadState?
    var partition: UInt32?
    var isOnline = true
    var reason: OfflineReason?
    /// When the last one was made.
    var at: Duration
    /// When the last announcement was made.
    var announcedAt: Duration
  }

  struct Owed: Equatable { let failure: AdoptionState? }

  /// Looks in a row that have to agree: its credentials are deleted then.
  static let looksForLeave = 3

  let rhythm: Rhythm
  let whenEmpty: WhenEmpty
  var published: Published?
  var finding = Finding()
  /// For which the connection is.
  var identity: BorderAgentID?
  var isConnected = false
  /// What is published next is not only what has changed.
  var needsPublish = false
  /// threadkeeper does not take it.
  var refusedDataset: OperationalDataset?
  /// Until then nothing is announced, and no dataset published. Answers are not authenticated: they never stop a
  /// heartbeat, `offline` or `leave`.
  var quietUntil = Duration.zero
  /// An announcement is due.
  var wantsAnnounce = false
  /// An order waits or is carried out: what the dataset is meanwhile is no answer to it.
  var isAdopting = false
  /// The report about an order that has ended, until it can be published.
  var owed: Owed?
  /// What other agents of this process see.
  var elsewhere: Set<BorderAgentID> = []

  init(_ rhythm: Rhythm = Rhythm(), whenEmpty: WhenEmpty = .publish) {
    (self.rhythm, self.whenEmpty) = (rhythm, whenEmpty)
  }

  /// A router that was never seen can't be said to be offline: nothing names it.
  func standing(at now: Duration) -> AgentStanding? {
    guard published == nil else { return .reportedByRouter }
    switch finding.standing {
    case .silent(let silence) where now - finding.downSince >= rhythm.hold: return .fails(silence.description)
    case .empty: return .works
    case .silent, .up, .stopped, nil: return nil
    }
  }

  /// - Parameter now: from any origin, never falling.
  mutating func handle(_ event: Event, at now: Duration) -> [Effect] {
    var effects: [Effect] = []
    switch event {
    case .looked(let look):
      let note = finding.take(look, at: now)
      // An adoption stops Thread by itself.
      if let note, !(isAdopting && finding.isStopped) { effects.append(.log(note)) }
    case .connected:
      isConnected = true
      needsPublish = true
    case .disconnected:
      isConnected = false
      return []
    case .rejected(let kind, let code, let field): reject(kind, code, field, at: now)
    case .reportWanted(let failure):
      owed = Owed(failure: failure)
      return report(at: now)
    case .stopping:
      guard let published, published.isOnline else { return [] }
      self.published?.isOnline = false
      return [.publish(RouterEvent(.offline, of: published.agent))]
    }
    if owed != nil { effects += report(at: now) }
    return effects + decide(at: now)
  }

  private mutating func reject(_ kind: RouterMessage.Kind, _ code: String, _ field: String?, at now: Duration) {
    let hasDataset = kind == .announce || kind == .dataset
    switch (code, field) {
    case ("not_found", _) where kind != .leave && kind != .announce: wantsAnnounce = true
    case (_, "dataset") where hasDataset && published?.dataset != nil:
      refusedDataset = published?.dataset
      if kind == .announce { wantsAnnounce = true }
    default:
      guard hasDataset else { return }
      quietUntil = now + rhythm.heartbeat
      wantsAnnounce = true
    }
  }

  /// The dataset and where it is, whatever was published before.
  private mutating func report(at now: Duration) -> [Effect] {
    guard let owed, isConnected, case .report(let report) = finding.look, report.agent == identity else { return [] }
    self.owed = nil
    return publish(published == nil ? .announce : Self.kind(report), report, failure: owed.failure, at: now)
  }
}

extension RouterMachine {
  /// What follows from what was found, and from what was published before.
  mutating func decide(at now: Duration) -> [Effect] {
    guard let look = finding.look, let standing = finding.standing else { return [] }
    var effects: [Effect] = []
    if let published, let agent = standing.agent, agent != published.agent {
      // It was reset: the previous id is no more. One look may be wrong.
      guard isConnected, finding.countOfAgent >= Self.looksForLeave else { return [] }
      effects += leave(published.agent)
    }
    switch (standing, look) {
    case (.silent(let silence), _): effects += silent(silence, at: now)
    case (.empty, _) where whenEmpty == .leave: effects += left()
    case (.stopped, .report(let report)), (.empty, .report(let report)): effects += stopped(report, at: now)
    case (.up, .report(let report)): effects += up(report, at: now)
    default: break
    }
    return effects
  }

  private mutating func leave(_ agent: BorderAgentID) -> [Effect] {
    (published, wantsAnnounce) = (nil, false)
    // Two routers have swapped their addresses: it is there, and another agent publishes for it.
    guard !elsewhere.contains(agent) else { return [.log(.elsewhere(agent))] }
    return effects(of: RouterEvent(.leave, of: agent))
  }

  private mutating func left() -> [Effect] {
    guard isConnected, let published, finding.count >= Self.looksForLeave else { return [] }
    return leave(published.agent)
  }

  private mutating func silent(_ silence: RouterSilence, at now: Duration) -> [Effect] {
    guard published != nil, now - finding.downSince >= rhythm.hold else { return [] }
    return offline(silence.reason, status: silence.status, at: now)
  }

  private mutating func offline(_ reason: OfflineReason?, status: Int? = nil, at now: Duration) -> [Effect] {
    guard isConnected, var known = published else { return [] }
    // The reason is published when it was the same all the time, or twice in a row; it changes when it has held.
    let isOnlyOne = finding.downSince == finding.since
    let reason = isOnlyOne || finding.count >= 2 ? reason : nil
    let isOther = known.reason != reason && now - finding.since >= rhythm.hold
    let isNews = known.isOnline || isOther || needsPublish
    // It can be reached: without this it would count as silent.
    let interval = wantsAnnounce ? rhythm.announce : rhythm.heartbeat
    let isDue = reason == .noNetwork && known.reason == reason && now - known.at >= interval
    guard isNews || isDue else { return [] }
    (known.isOnline, known.reason, known.at) = (false, reason, now)
    published = known
    needsPublish = false
    var event = RouterEvent(.offline, of: known.agent, reason: reason)
    event.httpStatus = reason == .failing ? status : nil
    return isNews ? effects(of: event) : [.publish(event)]
  }

  private mutating func stopped(_ report: RouterReport, at now: Duration) -> [Effect] {
    guard let published else { return first(report, at: now) }
    guard isConnected else { return [] }
    if wantsAnnounce, isAnnounced(report), now >= quietUntil { return publish(.announce, report, at: now) }
    guard now - finding.downSince >= rhythm.hold else { return [] }
    return hasNews(report, published) && now >= quietUntil
      ? publish(Self.kind(report), report, at: now) : offline(report.hasNoNetwork ? .noNetwork : .stopped, at: now)
  }

  /// One without a network, which cannot be given one, is no border router of the home.
  private func isAnnounced(_ report: RouterReport) -> Bool { !report.hasNoNetwork || whenEmpty == .announce }

  private mutating func up(_ report: RouterReport, at now: Duration) -> [Effect] {
    guard let published else { return first(report, at: now) }
    guard isConnected else { return [] }
    if now >= quietUntil {
      if wantsAnnounce || now - published.announcedAt >= rhythm.announce { return publish(.announce, report, at: now) }
      if hasNews(report, published) { return publish(Self.kind(report), report, at: now) }
    }
    let isSame =
      published.isOnline && published.threadState == report.state && published.network == report.network
      && published.partition == report.partition
    guard !isSame || needsPublish || now - published.at >= rhythm.heartbeat else { return [] }
    let effects = publish(.heartbeat, report, at: now)
    return isSame ? effects : effects + [.log(RouterNote(report))]
  }

  /// The first publication of this router, or a connection for it.
  private mutating func first(_ report: RouterReport, at now: Duration) -> [Effect] {
    guard identity == report.agent else {
      identity = report.agent
      isConnected = false
      return [.connect(report.agent)]
    }
    guard isConnected, now >= quietUntil else { return [] }
    if isAnnounced(report) { return publish(.announce, report, at: now) }
    published = Published(agent: report.agent, at: now, announcedAt: now)
    return offline(.noNetwork, at: now)
  }

  /// What a dataset is published as.
  private static func kind(_ report: RouterReport) -> RouterMessage.Kind { report.active == nil ? .announce : .dataset }

  /// Whether its dataset is not the one that was published. The order of the TLVs changes by itself.
  private func hasNews(_ report: RouterReport, _ published: Published) -> Bool {
    guard !isAdopting, let dataset = report.announced, !dataset.hasSameTLVs(as: refusedDataset) else { return false }
    return !dataset.hasSameTLVs(as: published.dataset)
  }

  mutating func publish(
    _ kind: RouterMessage.Kind, _ report: RouterReport, failure: AdoptionState? = nil, at now: Duration
  ) -> [Effect] {
    var dataset = published?.dataset
    if kind != .heartbeat {
      dataset = report.announced.flatMap { $0.hasSameTLVs(as: refusedDataset) ? nil : $0 }
      if dataset != nil { refusedDataset = nil }
    }
    let isStopped = report.state == .disabled
    let isAnnounced = kind == .announce
    if isAnnounced { wantsAnnounce = false }
    let announcedAt = isAnnounced ? now : published?.announcedAt ?? now
    published = Published(
      agent: report.agent, dataset: dataset, network: report.network, threadState: report.state,
      partition: report.partition, isOnline: !isStopped, reason: isStopped ? .stopped : nil, at: now,
      announcedAt: announcedAt)
    needsPublish = false
    var event = RouterEvent(kind, report, dataset: dataset)
    event.adoptionFailure = failure
    guard report.hasNoNetwork else { return effects(of: event) }
    // An announcement says no more than that Thread is disabled.
    published?.reason = .noNetwork
    return effects(of: event) + effects(of: RouterEvent(.offline, of: report.agent, reason: .noNetwork))
  }

  /// With a line for the log, but for heartbeats.
  private func effects(of event: RouterEvent) -> [Effect] {
    let note = Effect.log(RouterNote(event))
    return event.kind == .heartbeat ? [.publish(event)] : [.publish(event), note]
  }
}

extension OperationalDataset {
  /// Whether both have the same TLVs, in any order.
  func hasSameTLVs(as other: OperationalDataset?) -> Bool {
    guard let other, bytes.count == other.bytes.count else { return false }
    return bytes == other.bytes || sortedTLVs == other.sortedTLVs
  }

  private var sortedTLVs: [[UInt8]] {
    var tlvs: [[UInt8]] = []
    var rest = bytes[...]
    while rest.count >= 2 {
      let length = 2 + Int(rest[rest.startIndex + 1])
      tlvs.append(Array(rest.prefix(length)))
      rest = rest.dropFirst(length)
    }
    return tlvs.sorted { $0.lexicographicallyPrecedes($1) }
  }
}
