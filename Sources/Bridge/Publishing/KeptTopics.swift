import Broker
import Home
import Synchronization
import ThreadDataset

/// What the broker has of the daemon's own topics is compared with what belongs there: all that it keeps with each
/// connection, because a broker that was killed brings back what is over and has lost what is new; and whatever another
/// client publishes there afterwards. What is kept below base topics that were given up is emptied.
///
/// | | kept, at a connection | published by another client |
/// |---|---|---|
/// | as it should be | left alone | left alone |
/// | something else | replaced | replaced with the next tick, and reported |
/// | where nothing belongs | emptied | emptied with the next tick, and reported |
/// | missing | published, when all has come | published with the next tick, and reported |
struct KeptTopics {
  /// Seconds after the last retained message, after which the broker is taken to have sent all that it keeps.
  static let readingSeconds = 10
  /// Corrections that wait at most. What is left comes with the next connection.
  static let mostCorrections = 20_000
  /// Bytes of topics that wait for the next tick at most.
  static let mostBytes = 4 << 20
  /// The last publications that a broker sends back.
  private static let mostOwn = 2_048

  /// Until when the broker sends what it keeps; nil: it was not asked yet.
  var arrivalEnds: WireTime?
  /// What is missing is not known yet.
  var isReading = false
  /// Hashes of the places of which the broker keeps what it should: for ten seconds those of 40,000 routers would take
  /// ten megabytes. Where two have one hash, what is missing there comes with the next connection.
  private var right: Set<Int> = []
  var publishesAll = false
  /// Whether the broker sends back what this client publishes (MQTT 3.1.1, or an option that it does not know).
  var receivesOwn = false
  /// Whether the session may bring what the daemon published earlier, before it was started again: with MQTT 3.1.1 a
  /// client is also sent its own publications, and a broker that was killed sends those that it had saved once more.
  var returnsEarlier = false
  /// Whether all comes that is kept: no subscription was refused.
  var isComplete = true
  /// Something came from where the daemon publishes no more.
  var hasFormer = false
  /// The same, until it is known whose the base topics are.
  var former: [(base: String, topic: String)] = []
  /// Something was corrected.
  var corrects = false
  /// Alerts by their topics' last levels, for the messages of one tick, or as long as the broker sends what it keeps.
  var fingerprints: [Int: [String: AlertKey]] = [:]
  /// What is published again with the next tick, so that two clients that write the same topic do not drive each other.
  private(set) var altered: Set<String> = []
  private var alteredBytes = 0
  /// More was altered than is remembered: all is published again.
  var isTooMuch = false
  /// Publications that come back, by their hashes: each of them once, or another client could repeat it. With the
  /// numbers under which they are in `ownInOrder`.
  private var own: [Int: [Int]] = [:]
  private var ownInOrder: [Int] = []
  private var nextOwn = 0

  mutating func begin(publishesAll: Bool, receivesOwn: Bool, returnsEarlier: Bool) {
    arrivalEnds = nil
    self.publishesAll = publishesAll
    self.receivesOwn = receivesOwn
    self.returnsEarlier = returnsEarlier
    (isReading, isComplete, hasFormer, corrects) = (false, true, false, false)
    right.removeAll()
    former.removeAll()
    fingerprints.removeAll()
    own.removeAll()
    (ownInOrder, nextOwn) = ([], 0)
  }

  /// A state came that the broker keeps: there may be more.
  mutating func noteArrival(at now: WireTime) {
    if let before = arrivalEnds, now < before { arrivalEnds = now.adding(seconds: Self.readingSeconds) }
  }

  /// The broker keeps what it should there, or is about to be sent it.
  mutating func noteRight(_ place: RetainedPlace) {
    if arrivalEnds == nil || isReading { right.insert(place.hashValue) }
  }

  /// - Returns: the hashes of the places that are right.
  mutating func endReading() -> Set<Int> {
    isReading = false
    defer { right.removeAll() }
    return right
  }

  mutating func alter(_ topic: String) {
    let bytes = topic.utf8.count + 64
    guard alteredBytes + bytes <= Self.mostBytes else {
      isTooMuch = true
      return
    }
    if altered.insert(topic).inserted { alteredBytes += bytes }
  }

  mutating func takeAltered() -> Set<String> {
    defer {
      altered.removeAll()
      alteredBytes = 0
    }
    return altered
  }

  // MARK: What comes back

  mutating func noteOwn(_ publication: Publication) {
    guard receivesOwn else { return }
    let hash = Self.hash(publication.topic, publication.payload)
    let (number, place) = (nextOwn, nextOwn % Self.mostOwn)
    nextOwn += 1
    if place == ownInOrder.count {
      ownInOrder.append(hash)
    } else {
      let oldest = ownInOrder[place]
      // Unless it has come back.
      if own[oldest]?.first == number - Self.mostOwn { forgetOwn(oldest) }
      ownInOrder[place] = hash
    }
    own[hash, default: []].append(number)
  }

  mutating func isOwn(_ message: IncomingMessage) -> Bool {
    !own.isEmpty && forgetOwn(Self.hash(message.topic, message.payload))
  }

  @discardableResult private mutating func forgetOwn(_ hash: Int) -> Bool {
    guard var numbers = own.removeValue(forKey: hash) else { return false }
    numbers.removeFirst()
    if !numbers.isEmpty { own[hash] = numbers }
    return true
  }

  private static func hash(_ topic: String, _ payload: [UInt8]) -> Int {
    var hasher = Hasher()
    hasher.combine(topic)
    payload.withUnsafeBytes { hasher.combine(bytes: $0) }
    return hasher.finalize()
  }

  /// Whether what comes now may be what the daemon itself published earlier.
  func mayBeEarlier(at now: WireTime) -> Bool { returnsEarlier && isBeginning(at: now) }

  /// Whether the broker may still publish the last will of a connection before this one.
  func isBeginning(at now: WireTime) -> Bool { arrivalEnds.map { now < $0 } ?? true }

  /// An alert that is raised while its topic may be asked for.
  mutating func note(_ key: AlertKey, _ before: Alert?, _ states: RetainedStates, home: Int) {
    guard before == nil, fingerprints[home] != nil else { return }
    fingerprints[home]?[states.fingerprint(key, home: home)] = key
  }
}

extension Publisher {
  /// What is below a base topic of the daemon's own. Whose the base topic is comes first.
  fileprivate static let groups = ["bridge", "router", "network", "alert"]

  /// Another client has written where the daemon publishes.
  package struct AlteredTopic: Hashable, Sendable {
    package let topic: String
    package let home: String
    /// Whether a device is announced there to Home Assistant.
    package let isDevice: Bool
    /// Whether it has buttons: then nothing may be decided by buttons for a minute.
    package let isButton: Bool
  }

  /// The daemon's own topics.
  package var keptFilters: [String] {
    let topics = state.withLock { $0.states.settings.topics }
    return Self.filters(below: topics.roots) + (topics.parent.map { ["\($0)/bridge/#"] } ?? [])
  }

  /// The same below base topics that were given up: what the broker keeps there comes once with each connection.
  package var formerFilters: [String] {
    let settings = state.withLock { $0.states.settings }
    return Self.filters(below: settings.topics.formerRoots(of: settings.formerBases))
  }

  private static func filters(below roots: [String]) -> [String] {
    groups.flatMap { group in roots.map { "\($0)/\(group)/#" } }
  }

  /// Where devices are announced to Home Assistant, and what others publish there comes as well.
  package var deviceFilters: [String] {
    let settings = state.withLock { $0.states.settings }
    return ([settings.discoveryPrefix].compactMap(\.self) + settings.formerPrefixes).map {
      "\(HomeAssistantPlace.devices($0))/+/config"
    }
  }

  /// The broker has answered all subscriptions, and sends what it keeps.
  ///
  /// - Parameter isComplete: it has refused none.
  package func subscribed(isComplete: Bool = true) {
    let now = now()
    state.withLock { state in
      state.kept.arrivalEnds = now.adding(seconds: KeptTopics.readingSeconds)
      state.kept.isComplete = isComplete
      state.kept.isReading = true
    }
  }

  /// Messages on the daemon's own topics, and that Home Assistant has started.
  ///
  /// - Parameter delay: seconds until Home Assistant is answered; random, which spares the broker when many devices
  ///   answer one birth.
  /// - Returns: topics that another client has altered now.
  package func received(_ batch: [IncomingMessage], delay: Int = Int.random(in: 1...10)) -> [AlteredTopic] {
    let now = now()
    return state.withLock { state in
      var altered: [AlteredTopic] = []
      for message in batch {
        if message.topic.hasBytes(of: state.states.settings.birthTopic) {
          guard message.payload.elementsEqual("online".utf8), !message.isRetained,
            state.walk == nil || state.comparesFirst
          else { continue }
          state.requestRepublish(at: now.adding(seconds: delay))
        } else if message.isRetained {
          state.compare(message, at: now)
        } else if let topic = state.check(message, at: now) {
          altered.append(topic)
        }
        if message.isRetained { state.kept.noteArrival(at: now) }
      }
      return altered
    }
  }
}

extension Publisher.State {
  /// Publishes again what another client has altered, and what the broker has lost.
  mutating func restoreKept(at now: WireTime) {
    if kept.isReading, let end = kept.arrivalEnds, end <= now { publishMissing() }
    if !kept.isReading { kept.fingerprints.removeAll() }
    guard urgent.count < KeptTopics.mostCorrections else { return }
    if kept.isTooMuch { publishAll(at: now) }
    kept.isTooMuch = false
    for topic in kept.takeAltered() {
      guard let (home, levels) = states.home(of: topic) else {
        urgent.append(Publication(topic: topic, payload: [], retain: true))
        continue
      }
      urgent.append(belonging(to: topic, home, levels, at: now).publication)
    }
  }

  /// All that the broker keeps has come: what is not among it is published.
  private mutating func publishMissing() {
    let right = kept.endReading()
    let lacksStates = kept.isComplete && !kept.publishesAll && walk == nil
    let isFirst = comparesFirst
    comparesFirst = false
    guard isFirst || lacksStates else { return }
    var isNews = false
    var walk = StateWalk(homes, announcesDevices: states.announcesDevices, saysPresence: false)
    while let place = walk.next() {
      guard lacksStates || place.isDevice || place.isAlert, !right.contains(place.hashValue), !others.holds(place.home)
      else { continue }
      switch place.subject {
      case .homeDevice, .routerDevice: devices.add(place)
      case .network: late[place.home, default: []].insert(place.subject)
      default: dirty.add(place)
      }
      isNews = isNews || lacksStates && !place.isDevice
    }
    for (home, subjects) in buttons where lacksStates && !others.holds(home) {
      for subject in subjects {
        let place = RetainedPlace(home: home, subject: subject)
        if !right.contains(place.hashValue) { devices.add(place) }
      }
    }
    if isNews { notices.append(.republishes) }
  }

  /// What the broker keeps.
  fileprivate mutating func compare(_ message: IncomingMessage, at now: WireTime) {
    guard !message.payload.isEmpty else { return }
    guard let (home, levels) = watched(message.topic) else { return emptyFormer(message) }
    if levels == ["bridge", "info"] { _ = others.noteInfo(message, of: home, at: now) }
    guard !others.holds(home) else { return }
    let (place, wanted) = belonging(to: message.topic, home, levels, at: now)
    // Each connection begins with these.
    if place?.isOfDaemon == true || isStoreAlert(levels, home) { return }
    guard wanted.payload != message.payload else {
      if let place { kept.noteRight(place) }
      return
    }
    let isDevice = levels.isEmpty
    if isDevice, place == nil { kept.hasFormer = true }
    // It is announced when all have come that are as they should be.
    if isDevice, comparesFirst, !wanted.payload.isEmpty { return }
    if let place { kept.noteRight(place) }
    if isDevice { kept.alter(message.topic) } else { correct(wanted) }
  }

  private mutating func emptyFormer(_ message: IncomingMessage) {
    guard let base = states.formerBase(of: message.topic) else { return }
    if message.topic.hasBytes(of: OutboundTopic(base: base).info) { others.noteFormerInfo(message, of: base) }
    guard urgent.count + kept.former.count < KeptTopics.mostCorrections else {
      kept.isComplete = false
      return
    }
    kept.former.append((base, message.topic))
    if others.hasLooked { emptyFormer() }
  }

  /// What is kept below base topics of before, unless they are another daemon's by now.
  mutating func emptyFormer() {
    for (base, topic) in kept.former where !isAnothers(base) {
      kept.hasFormer = true
      urgent.append(Publication(topic: topic, payload: [], retain: true))
    }
    kept.former.removeAll()
  }

  /// Also one that is in use, below a discovery prefix of before.
  private func isAnothers(_ base: String) -> Bool {
    others.formerOwned.contains(ExactName(base))
      || homes.indices.contains { others.holds($0) && states.base($0).hasBytes(of: base) }
  }

  private mutating func correct(_ wanted: Publication) {
    guard urgent.count < KeptTopics.mostCorrections else {
      kept.isComplete = false
      return
    }
    urgent.append(wanted)
    if !kept.corrects { notices.append(.corrects(topic: wanted.topic)) }
    kept.corrects = true
  }

  /// What somebody publishes on the daemon's own topics.
  fileprivate mutating func check(_ message: IncomingMessage, at now: WireTime) -> Publisher.AlteredTopic? {
    guard !kept.isOwn(message), let (home, levels) = watched(message.topic) else { return nil }
    switch levels {
    case ["bridge", "daemon"]:
      if others.noteGreeting(message.payload, of: home, at: now) { kept.receivesOwn = true }
      return nil
    case ["bridge", "info"]:
      if others.noteInfo(message, of: home, at: now) {
        publishAll(at: now)
        return nil
      }
    default:
      // `threadkeeper doctor` tries what the broker lets the daemon do.
      if levels.count == 3, levels[2] == ProbeTopic.name { return nil }
    }
    // What a device became is reported each time: it may have other buttons now.
    guard !others.holds(home), levels.isEmpty || !kept.altered.contains(message.topic) else { return nil }
    let (place, wanted) = belonging(to: message.topic, home, levels, at: now)
    guard wanted.payload != message.payload else { return nil }
    let isDevice = levels.isEmpty
    let isButton = place?.isButton == true && !wanted.payload.isEmpty
    // Two daemons that publish would empty each other's events; that there is another one is known a little after a
    // connection begins. What is kept goes with the next one.
    if levels.contains("event"), others.hasSeen(in: home, at: now) || kept.isBeginning(at: now) { return nil }
    // Nothing is compared before it was published.
    if place?.subject == .health, wanted.payload.isEmpty { return nil }
    // Home Assistant itself empties the topic of a device that a person deletes there. What waits keeps its buttons.
    if isDevice, message.payload.isEmpty, !isButton { return nil }
    kept.alter(message.topic)
    if isDevice && message.payload.isEmpty || !isButton && kept.mayBeEarlier(at: now) { return nil }
    // The broker does that, for a connection of this daemon that was lost, or of another one.
    if place?.subject == .presence, message.payload == BridgeState.offline,
      kept.isBeginning(at: now) || others.hasSeen(in: home, at: now)
    {
      return nil
    }
    return Publisher.AlteredTopic(topic: message.topic, home: states.name(home), isDevice: isDevice, isButton: isButton)
  }

  /// The home of one of the daemon's own topics.
  private func watched(_ topic: String) -> (home: Int, levels: [Substring])? {
    guard let (home, levels) = states.home(of: topic),
      levels.first.map({ Publisher.groups.contains(String($0)) }) ?? true
    else { return nil }
    return (home, levels)
  }

  /// Of the alert that no home has.
  private func isStoreAlert(_ levels: [Substring], _ home: Int) -> Bool {
    home == 0 && levels.count == 2 && levels[0] == "alert"
      && levels[1] == AlertKey(.storeReadOnly).fingerprint(in: states.name(0))
  }

  /// What belongs on a topic of a home. Without a place: that no home has the alert, or that nothing belongs there.
  private mutating func belonging(to topic: String, _ home: Int, _ levels: [Substring], at now: WireTime) -> (
    place: RetainedPlace?, publication: Publication
  ) {
    let nothing = Publication(topic: topic, payload: [], retain: true)
    if levels.isEmpty {
      guard let place = states.devicePlace(of: topic) else { return (nil, nothing) }
      return (place, homes[place.home].lend { states.publication(place, $0, at: now) })
    }
    if isStoreAlert(levels, home) { return (nil, storeAlertState(of: states.settings.topics.homes[0], at: now)) }
    guard let subject = subject(levels, home) else { return (nil, nothing) }
    let place = RetainedPlace(home: home, subject: subject)
    let found = render(place, at: now)
    return found.topic.hasBytes(of: topic) ? (place, found) : (nil, nothing)
  }

  private mutating func subject(_ levels: [Substring], _ home: Int) -> RetainedPlace.Subject? {
    switch (levels.first, levels.count) {
    case ("bridge", 2):
      switch levels[1] {
      case "state": .presence
      case "info": .info
      case "health": .health
      case "alerts": .alerts
      case "consent": .consent
      default: nil
      }
    case ("router", 2): BorderAgentID(hex: levels[1]).map { .router($0) }
    case ("router", 3) where levels[2] == "availability": BorderAgentID(hex: levels[1]).map { .availability($0) }
    case ("network", 2): ExtendedPANID(hex: levels[1]).map { .network($0) }
    case ("alert", 2): alert(String(levels[1]), home).map { .alert($0) }
    default: nil
    }
  }

  private mutating func alert(_ fingerprint: String, _ home: Int) -> AlertKey? {
    if let known = kept.fingerprints[home] { return known[fingerprint] }
    var found: [String: AlertKey] = [:]
    for key in homes[home].value.alerts.keys { found[states.fingerprint(key, home: home)] = key }
    kept.fingerprints[home] = found
    return found[fingerprint]
  }
}
