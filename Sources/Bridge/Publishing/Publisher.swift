import Broker
import Home
import HomeStore
import KeychainCore
import Synchronization
import Wire

/// Publishes what homes are, and what happened in them.
///
/// States are rendered from the latest snapshot when the connection can take more, so ten changes in a row are perhaps
/// one state. Events are stored messages. The states that an event is about come before it; what counts or lists many
/// things (networks, `bridge/alerts`, `bridge/consent`) comes when nothing else waits. While states change faster than the
/// broker takes them, events wait.
///
/// Thread-safe. It wakes nobody: whoever has noted something wakes the connection.
package final class Publisher: Sendable {
  /// The overview of a home with this many alerts is made once a second only.
  static let large = 256
  /// Stored messages that are deleted together, where they are many.
  static let portion: Int64 = 64

  /// One home after a commit.
  package struct CommittedHome: Sendable {
    let home: String
    let value: Home
    let changes: Home.Changes

    package init(_ home: String, _ value: Home, _ changes: Home.Changes) {
      self.home = home
      self.value = value
      self.changes = changes
    }
  }

  /// One that is lent. Each copy of the value would count up all that it refers to.
  final class ShownHome: Sendable {
    let value: Home
    init(_ value: Home) { self.value = value }

    /// Only a method of the object passes its value on without a copy.
    func lend<R>(to body: (borrowing Home) -> R) -> R { body(value) }
  }

  struct State {
    var states: RetainedStates
    var homes: [ShownHome]
    var outbox: Outbox
    /// By the name of the home.
    let events: [String: EventWriter]
    var pace = PublicationPace(fullBatch: 256, portion: 8)
    /// What is no state of a home and goes first; made again for each connection.
    var urgent: ArraySlice<Publication> = []
    var dirty = DirtyPlaces()
    /// Devices to be announced, which come before states, and to be emptied, which come after events: Home Assistant
    /// has an entity for the events of a device, which goes with it.
    var devices = DirtyPlaces()
    var removals = DirtyPlaces()
    var late: [Int: Set<RetainedPlace.Subject>] = [:]
    /// Large homes whose turn it is.
    var lateDue = false
    var walk: StateWalk?
    /// Stored messages up to this one are of an earlier process. What they are about comes with the first walk.
    let lastOfEarlier: Int64
    /// Rendered, and not handed out yet.
    var ready: [Publication] = []
    var underWay = UnderWay()
    /// Why stored messages could not be read when that was tried last.
    var readFailure: (any Error)?
    /// Whether it is tried again for the publications at hand.
    var triesToRead = true
    var notices: [Notice] = []

    /// Homes of which `bridge/info` may say something else, and what it said.
    var infoDue: Set<Int> = []
    var lastInfo: [Int: [UInt8]] = [:]
    /// Buttons that are announced.
    var buttons: [Int: Set<RetainedPlace.Subject>] = [:]
    var choicesDue: Set<Int> = []
    var devicePace = DevicePace()
    /// The last one, until it is over for a day.
    var storeAlert: Alert?

    // Of the connection.
    var isConnected = false
    /// Everything is to be published on the next connection.
    var owesAll = true
    /// Devices and alerts that the broker keeps from an earlier process are compared before any is published: Home
    /// Assistant sets up the whole device again each time, and shows an alert again that somebody has dismissed.
    var comparesFirst = true
    /// The broker takes no devices on this connection.
    var refusesDevices = false
    var nextRepublish: WireTime?
    var republishDue: WireTime?
    var kept = KeptTopics()
    var others: OtherDaemons
  }

  let now: @Sendable () -> WireTime
  /// How long ago it was that something has happened of which the broker has now acknowledged all messages.
  private let acknowledged: @Sendable (Duration) -> Void
  let state: Mutex<State>

  /// - Parameters:
  ///   - stored: the ids of the messages in the store.
  package init(
    _ settings: PublisherSettings, _ snapshot: HomeSnapshot, _ store: any RecordStore, stored: Range<Int64>,
    now: @escaping @Sendable () -> WireTime, acknowledged: @escaping @Sendable (Duration) -> Void = { _ in }
  ) {
    self.now = now
    self.acknowledged = acknowledged
    let events = settings.topics.homes.map { ($0.name, EventWriter(home: $0.name, base: $0.base, ways: settings.ways)) }
    let homes = settings.topics.homes.map { ShownHome(snapshot.homes[$0.name] ?? Home(rules: HomeRules())) }
    state = Mutex(
      State(
        states: RetainedStates(settings), homes: homes, outbox: Outbox(store, stored),
        events: Dictionary(events, uniquingKeysWith: { $1 }), lastOfEarlier: stored.upperBound - 1,
        others: OtherDaemons(instance: settings.instanceID, takesOver: settings.takesOver)))
  }

  /// The broker has acknowledged all stored messages up to this one.
  package var published: Int64 { state.withLock { $0.outbox.published } }

  /// States and stored messages that the connection has taken since the start, with those that it took again.
  var handedOut: Int { state.withLock { Int($0.underWay.next) } }

  /// Up to which one they may be deleted now. In portions: to delete those of a whole second holds up a commit.
  var deletable: Int64 { published / Self.portion * Self.portion }

  /// Stored messages that the broker has not acknowledged.
  package var waiting: Int { state.withLock { $0.outbox.waiting } }

  /// Why stored messages cannot be read; nil: they can.
  package var readFailure: (any Error)? { state.withLock { $0.readFailure } }

  /// What is worth a line of the log.
  package enum Notice: Hashable, Sendable {
    /// The broker keeps on this topic what is not true any more; the first one of a connection.
    case corrects(topic: String)
    /// The broker does not keep all states, so they are published again.
    case republishes
    /// A stored message that is none.
    case unreadable(message: Int64)
  }

  package func takeNotices() -> [Notice] {
    state.withLock { state in
      defer { state.notices = [] }
      return state.notices
    }
  }

  /// Whether the broker keeps nothing any more below base topics that were given up: nothing came from there on this
  /// connection.
  package var hasEmptiedBases: Bool {
    let now = now()
    return state.withLock { state in
      guard state.isConnected, let end = state.kept.arrivalEnds, end <= now else { return false }
      return state.kept.isComplete && !state.kept.hasFormer && state.urgent.isEmpty
    }
  }

  // MARK: What has changed

  /// What a commit has changed.
  ///
  /// - Parameters:
  ///   - messages: the ids of the stored messages of this commit; empty, and beginning with the next id, where there
  ///     are none.
  ///   - received: messages that it was about.
  package func note(_ commits: [CommittedHome], messages: Range<Int64>, received: Int = 0) {
    let now = now()
    state.withLock { state in
      for commit in commits {
        guard let home = state.states.index(of: commit.home) else { continue }
        state.note(commit, home: home, messages, at: now)
      }
      state.outbox.note(last: messages.upperBound - 1, at: now)
      state.pace.batchCommitted(messages: received)
    }
  }

  /// The store cannot be used, or, with nil, can be used again.
  ///
  /// - Parameter reason: what is wrong, and what to do.
  package func setStoreProblem(_ reason: String?) {
    let now = now()
    state.withLock { $0.setStoreProblem(reason, at: now) }
  }

  /// That the store cannot be used, as lists have it; nil where it is over for a day.
  package var storeAlert: Alert? {
    let now = now()
    return state.withLock { state in state.storeAlert.flatMap { $0.storeExpiry(at: now) == 0 ? nil : $0 } }
  }

  /// For each home; for a shard once, because each minute a message for thousands of homes would be most of its work.
  package func publish(_ health: BridgeHealth) {
    let payload = health.json()
    state.withLock { state in
      guard state.isConnected else { return }
      state.states.health = payload
      let topics = state.states.settings.topics
      for base in topics.parent.map({ [$0] }) ?? topics.homes.map(\.base) {
        state.urgent.append(
          Publication(
            topic: OutboundTopic(base: base).health, payload: payload, retain: true,
            messageExpiry: BridgeHealth.expirySeconds))
      }
    }
  }

  // MARK: The connection

  /// - Parameter receivesOwn: the broker also sends what this client publishes (MQTT 3.1.1, where there is no option
  ///   against that).
  package func connected(sessionPresent: Bool, receivesOwn: Bool = false) {
    let now = now()
    state.withLock { $0.connect(forgotten: !sessionPresent, receivesOwn: receivesOwn, at: now) }
  }

  package func disconnected() { state.withLock { $0.isConnected = false } }

  /// What the connection can take next, at most `limit`; fewer: there is no more now.
  package func publications(upTo limit: Int) -> [Publication] {
    let now = now()
    return state.withLock { state in
      var publications = state.take(limit, at: now)
      if state.others.holdsAny {
        var isMore = !publications.isEmpty
        publications = state.withoutHeld(publications)
        while isMore, publications.count < limit {
          let next = state.take(limit - publications.count, at: now)
          isMore = !next.isEmpty
          publications += state.withoutHeld(next)
        }
      }
      if state.kept.receivesOwn { for publication in publications { state.kept.noteOwn(publication) } }
      return publications
    }
  }

  /// - Returns: whether it was one of these publications.
  @discardableResult package func acknowledged(_ token: UInt64, _ outcome: PublicationOutcome) -> Bool {
    let (isKnown, published) = state.withLock { ($0.acknowledge(token, outcome), $0.outbox.takePublished()) }
    guard !published.isEmpty else { return isKnown }
    let now = now()
    for time in published { acknowledged(.milliseconds(max(0, now.milliseconds - time.milliseconds))) }
    return isKnown
  }

  /// The broker takes again what its access list has refused.
  package func accessRegained() {
    let now = now()
    state.withLock { state in
      // Only who corrects the access list has it happen, and waits for it.
      state.nextRepublish = nil
      state.publishAll(at: now)
    }
  }

  /// What is due by the clock; called once a second, at rest less often.
  ///
  /// - Returns: whether the connection may have something to take.
  @discardableResult package func tick() -> Bool {
    let now = now()
    return state.withLock { state in
      state.tick(at: now)
      return !state.isIdle
    }
  }

  /// What waits for a time by another clock waits no more.
  package func clockJumped() {
    let now = now()
    state.withLock { state in
      state.nextRepublish = nil
      state.republishDue = state.republishDue.map { _ in now }
    }
  }
}

extension Publisher.State {
  fileprivate mutating func take(_ limit: Int, at now: WireTime) -> [Publication] {
    var publications = Array(urgent.prefix(limit))
    // It is a slice: the rest, which may be that of thousands of homes, is not moved.
    urgent.removeFirst(publications.count)
    if urgent.isEmpty { urgent = [] }
    let room = pace.allowed(limit - publications.count)
    guard room > 0 else { return publications }
    triesToRead = true
    fill(room, at: now)
    // A row may have more messages than there was room for.
    let rest = ready.count > room ? Array(ready[room...]) : []
    ready.removeLast(rest.count)
    // Most often they are moved, not copied.
    if publications.isEmpty { swap(&publications, &ready) } else { publications += ready }
    ready = rest
    return publications
  }

  // MARK: Noting

  fileprivate mutating func note(
    _ commit: Publisher.CommittedHome, home: Int, _ messages: Range<Int64>, at now: WireTime
  ) {
    let old = homes[home].value
    let new = commit.value
    homes[home] = Publisher.ShownHome(new)
    func place(_ subject: RetainedPlace.Subject) -> RetainedPlace { RetainedPlace(home: home, subject: subject) }
    for agent in commit.changes.routers {
      let before = old.routers.lend(agent) { router, _ in RouterDeviceParts(router) }
      let after = new.routers.lend(agent) { router, _ in RouterDeviceParts(router) }
      // One that came and left since is not known to the broker.
      guard before?.isPresent == true || after?.isPresent == true else { continue }
      dirty.add(place(.router(agent)))
      dirty.add(place(.availability(agent)))
      if states.announcesDevices,
        after?.needsAnnouncement(after: before) ?? true
          || new.hasNamesake(agent, after?.name) != old.hasNamesake(agent, before?.name)
      {
        devices.add(place(.routerDevice(agent)), row: messages.upperBound - 1)
      }
    }
    for network in commit.changes.networks { late[home, default: []].insert(.network(network)) }
    var hasNewQuestions = false
    for record in commit.changes.records {
      switch record {
      case .alert(let key):
        kept.note(key, old.alerts[key], states, home: home)
        guard old.alerts[key]?.wasPublished == true || new.alerts[key]?.wasPublished == true else { continue }
        dirty.add(place(.alert(key)))
        late[home, default: []].insert(.alerts)
      case .question, .client: hasNewQuestions = true
      // Routers and networks are noted in the changes as such; the others are not published.
      case .home, .router, .former, .grant, .decision, .signer, .shared, .agent: break
      }
    }
    if hasNewQuestions {
      late[home, default: []].insert(.consent)
      settleButtons(of: home, at: now)
    }
    infoDue.insert(home)
    choicesDue.insert(home)
  }

  /// A request that is asked from now on gets its buttons, and those of one that is not go. So do the networks that can
  /// be preferred, and disputed keys that can be kept.
  mutating func settleButtons(of home: Int, at now: WireTime, isFirst: Bool = false) {
    guard states.announcesDevices, states.login != nil else { return }
    let wanted = states.buttons(in: homes[home].value, at: now)
    let before = isFirst ? [] : buttons[home] ?? []
    guard wanted != before else { return }
    buttons[home] = wanted
    for subject in wanted.symmetricDifference(before) { devices.add(RetainedPlace(home: home, subject: subject)) }
    // Their list names them, and changes without a question, too: by an enrolment.
    late[home, default: []].insert(.consent)
  }

  fileprivate mutating func setStoreProblem(_ reason: String?, at now: WireTime) {
    let before = storeAlert.flatMap { $0.endsAt == nil ? $0 : nil }
    let facts = reason.map(AlertFacts.storeReadOnly)
    guard facts != before?.facts, let home = states.settings.topics.homes.first, let facts = facts ?? before?.facts
    else { return }
    let alert = Alert(
      shown: facts, since: before?.heldSince ?? now, updatedAt: now, endsAt: reason == nil ? now : nil,
      sequence: (storeAlert?.sequence ?? 0) + 1)
    storeAlert = alert
    let news: Alert.News = reason == nil ? .resolved : before == nil ? .raised : .updated
    late[0, default: []].insert(.alerts)
    guard isConnected else { return }
    urgent.append(storeAlertState(of: home, at: now))
    urgent.append(
      Publication(
        topic: OutboundTopic(base: home.base).alertEvent,
        payload: AlertState(
          AlertKey(.storeReadOnly), alert, in: home.name, ways: states.settings.ways, news: (news, nil)
        ).json()))
  }

  /// What the broker should keep of it.
  mutating func storeAlertState(of home: BaseTopics.Home, at now: WireTime) -> Publication {
    if storeAlert?.storeExpiry(at: now) == 0 { storeAlert = nil }
    let key = AlertKey(.storeReadOnly)
    return Publication(
      topic: "\(home.base)/alert/\(key.fingerprint(in: home.name))",
      payload: storeAlert.map { AlertState(key, $0, in: home.name, ways: states.settings.ways).json() } ?? [],
      retain: true, messageExpiry: storeAlert?.storeExpiry(at: now))
  }

  // MARK: The connection

  fileprivate mutating func connect(forgotten: Bool, receivesOwn: Bool, at now: WireTime) {
    isConnected = true
    outbox.restart()
    ready.removeAll()
    requeue(underWay.removeAll())
    if refusesDevices { owesAll = true }
    refusesDevices = false
    lastInfo.removeAll()
    urgent = homes.indices.map { presence(of: $0) }[...]
    // What a daemon before this one has left there while it could not write.
    if let home = states.settings.topics.homes.first { urgent.append(storeAlertState(of: home, at: now)) }
    for home in homes.indices {
      late[home, default: []].formUnion([.alerts, .consent])
      infoDue.insert(home)
      settleButtons(of: home, at: now, isFirst: owesAll || forgotten)
    }
    lateDue = true
    kept.begin(
      publishesAll: owesAll || forgotten || walk != nil, receivesOwn: receivesOwn,
      returnsEarlier: receivesOwn && !forgotten)
    others.connect()
    if forgotten { comparesFirst = false }
    if owesAll || forgotten { republish(at: now) }
    tick(at: now)
  }

  private func presence(of home: Int) -> Publication {
    Publication(
      topic: states.topic(RetainedPlace(home: home, subject: .presence)), payload: BridgeState.online, retain: true)
  }

  private mutating func requeue(_ places: [RetainedPlace]) {
    var (unansweredDevices, unansweredStates): ([RetainedPlace], [RetainedPlace]) = ([], [])
    for place in places {
      switch place.subject {
      case .presence, .info, .health: break
      case .alerts, .consent, .network: late[place.home, default: []].insert(place.subject)
      case .homeDevice, .routerDevice, .questionDevice, .choiceDevice, .disputeDevice: unansweredDevices.append(place)
      case .router, .availability, .alert: unansweredStates.append(place)
      }
    }
    devices.addFirst(unansweredDevices)
    dirty.addFirst(unansweredStates)
  }

  /// Everything is published again, in small steps between the events.
  mutating func republish(at now: WireTime, saysPresence: Bool = false) {
    owesAll = false
    refusesDevices = false
    devicePace = DevicePace()
    if saysPresence { comparesFirst = false }
    // Home Assistant has to be answered with devices.
    if !comparesFirst { nextRepublish = now.adding(seconds: 60) }
    // Before messages that an earlier process has left comes what they are about.
    let hasEarlier = outbox.published < lastOfEarlier
    walk = StateWalk(
      homes, announcesDevices: states.announcesDevices && !comparesFirst, publishesAlerts: !comparesFirst || hasEarlier,
      saysPresence: saysPresence)
    if saysPresence { for home in homes.indices { settleButtons(of: home, at: now, isFirst: true) } }
  }

  /// At most once a minute; an earlier request has to wait.
  mutating func requestRepublish(at due: WireTime) { republishDue = republishDue ?? max(due, nextRepublish ?? due) }

  @discardableResult mutating func acknowledge(_ token: UInt64, _ outcome: PublicationOutcome) -> Bool {
    switch underWay.remove(token) {
    case .message(let row): outbox.acknowledge(row)
    case .state(let place): if case .refused = outcome, place.isDevice { refusesDevices = true }
    case nil: return false
    }
    return true
  }

  /// The broker takes what it has refused, because the access list was corrected, or what belonged to another daemon.
  mutating func publishAll(at now: WireTime) {
    refusesDevices = false
    lastInfo.removeAll()
    infoDue.formUnion(homes.indices)
    for home in homes.indices { late[home, default: []].formUnion([.alerts, .consent]) }
    urgent += homes.indices.map { presence(of: $0) } + greetings(at: now)
    requestRepublish(at: now)
  }

  fileprivate mutating func tick(at now: WireTime) {
    pace.look()
    for home in choicesDue { settleButtons(of: home, at: now) }
    choicesDue.removeAll()
    guard isConnected else { return }
    lateDue = true
    for place in devicePace.released(at: now) { devices.add(place) }
    if let due = republishDue, due <= now {
      republishDue = nil
      republish(at: now, saysPresence: true)
    }
    for home in infoDue {
      let info = states.publication(RetainedPlace(home: home, subject: .info), homes[home].value, at: now)
      guard lastInfo[home] != info.payload else { continue }
      lastInfo[home] = info.payload
      urgent.append(info)
    }
    infoDue.removeAll()
    restoreKept(at: now)
    watchOthers(at: now)
  }
}

extension Publisher {
  /// What is on disk now.
  ///
  /// - Parameter home: each one by its name, as it is after the batch.
  package func note(_ batch: CommittedBatch, home: (String) -> Home?) {
    let commits = batch.changes.compactMap { name, changes in home(name).map { CommittedHome(name, $0, changes) } }
    note(commits, messages: batch.messages, received: batch.received)
  }
}

extension Alert {
  /// Of the one that no home has, because a store that cannot be written cannot hold it: seconds for which the broker
  /// keeps what is published now. Nil while it fires, 0 when it is over for a day.
  fileprivate func storeExpiry(at now: WireTime) -> UInt32? {
    endsAt.map {
      let passed = max(0, now.milliseconds - $0.milliseconds) / 1_000
      return UInt32(max(0, Int64(Self.resolvedRetention) - passed))
    }
  }
}
