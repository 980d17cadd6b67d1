// SPDX-License-Identifier: Apache-2.0

import Broker
import Home
import ThreadDataset

/// What the broker keeps of the daemon's own topics comes with each connection, and is corrected where it is not true:
/// a broker that was killed brings back routers that left and alerts that are over. What is kept below base topics that
/// were given up is emptied.
struct KeptTopics {
  /// Seconds after the last retained message, after which the broker is taken to have sent all that it keeps.
  static let readingSeconds = 10
  /// Corrections that wait at most. What is left comes with the next connection.
  static let mostCorrections = 2_000

  /// States of listed routers that came, and until when they may come; nil: they are not counted.
  var routers = 0
  var readingEnds: WireTime?
  /// Until when the broker sends what it keeps, also where it is not counted; nil: it was not asked yet.
  var arrivalEnds: WireTime?
  var publishesAll = false
  /// Whether the session may bring what the daemon published earlier, before it was started again: with MQTT 3.1.1 a
  /// client is also sent its own publications, and a broker that was killed sends those that it had saved once more.
  var returnsEarlier = false
  /// Whether all comes that is kept: no subscription was refused.
  var isComplete = true
  /// Something came from where the daemon publishes no more.
  var hasFormer = false
  /// Something was corrected.
  var corrects = false
  /// Alerts by their topics' last levels, as long as the broker sends them.
  var fingerprints: [Int: [String: AlertKey]] = [:]
  /// Devices that another client has altered; published again with the next tick, so that two clients that write the
  /// same topic do not drive each other.
  var altered: Set<String> = []
  /// Hashes of the last devices that were published: with MQTT 3.1.1 they come back.
  private var own: [Int] = []
  private var nextOwn = 0

  mutating func begin(publishesAll: Bool, returnsEarlier: Bool) {
    routers = 0
    readingEnds = nil
    arrivalEnds = nil
    self.publishesAll = publishesAll
    self.returnsEarlier = returnsEarlier
    (isComplete, hasFormer, corrects) = (true, false, false)
    fingerprints.removeAll()
  }

  /// A state came that the broker keeps: there may be more.
  mutating func noteArrival(at now: WireTime) {
    let end = now.adding(seconds: Self.readingSeconds)
    if let before = arrivalEnds, now < before { arrivalEnds = end }
    if readingEnds != nil { readingEnds = end }
  }

  mutating func noteOwn(_ publication: Publication, _ states: RetainedStates) {
    guard states.announcesDevices, publication.retain,
      states.deviceHome(of: publication.topic) != nil
    else {
      return
    }
    let hash = Self.hash(publication.topic, publication.payload)
    if own.count < 512 {
      own.append(hash)
    } else {
      own[nextOwn] = hash
      nextOwn = (nextOwn + 1) % own.count
    }
  }

  func isOwn(_ message: IncomingMessage) -> Bool {
    own.contains(Self.hash(message.topic, message.payload))
  }

  private static func hash(_ topic: String, _ payload: [UInt8]) -> Int {
    var hasher = Hasher()
    hasher.combine(topic)
    payload.withUnsafeBytes { hasher.combine(bytes: $0) }
    return hasher.finalize()
  }

  /// Whether a device that comes now may be what the daemon itself published earlier.
  func mayBeEarlier(at now: WireTime) -> Bool {
    returnsEarlier && arrivalEnds.map { now < $0 } ?? true
  }

  /// An alert that is raised while the broker sends what it keeps.
  mutating func note(_ key: AlertKey, _ before: Alert?, _ states: RetainedStates, home: Int) {
    guard before == nil, fingerprints[home] != nil else { return }
    fingerprints[home]?[states.fingerprint(key, home: home)] = key
  }

  static func emptied(bridgeOf base: String) -> [Publication] {
    let topic = OutboundTopic(base: base)
    return [topic.state, topic.info, topic.health, topic.alerts, topic.consent].map {
      Publication(topic: $0, payload: [], retain: true)
    }
  }
}

extension Publisher {
  /// Another client has written where the daemon announces a device.
  package struct AlteredDevice: Hashable, Sendable {
    package let topic: String
    package let home: String
    /// Whether it has buttons: then nothing may be decided by buttons for a minute.
    package let isButton: Bool
  }

  /// What the broker keeps there comes once with each connection.
  package var keptFilters: [String] {
    let settings = state.withLock { $0.states.settings }
    let topics = settings.topics
    return (topics.roots + topics.formerRoots(of: settings.formerBases)).flatMap { root in
      ["router/+", "router/+/availability", "network/+", "alert/+"].map { "\(root)/\($0)" }
    }
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
      let end = now.adding(seconds: KeptTopics.readingSeconds)
      state.kept.arrivalEnds = end
      state.kept.isComplete = isComplete
      if isComplete, !state.kept.publishesAll { state.kept.readingEnds = end }
    }
  }

  /// Messages on the daemon's own topics, and that Home Assistant has started.
  ///
  /// - Parameter delay: seconds until Home Assistant is answered; random, which spares the broker when many devices
  ///   answer one birth.
  /// - Returns: devices that another client has altered now.
  package func received(
    _ batch: [IncomingMessage], delay: Int = Int.random(in: 1...10)
  ) -> [AlteredDevice] {
    let now = now()
    return state.withLock { state in
      var altered: [AlteredDevice] = []
      for message in batch {
        if message.topic.hasBytes(of: state.states.settings.birthTopic) {
          guard message.payload.elementsEqual("online".utf8), !message.isRetained,
            state.walk == nil || state.comparesDevices
          else { continue }
          state.requestRepublish(at: now.adding(seconds: delay))
        } else if let home = state.states.deviceHome(of: message.topic) {
          if let device = state.checkDevice(message, of: home, at: now) { altered.append(device) }
        } else if message.isRetained {
          state.correct(message, at: now)
        }
        if message.isRetained { state.kept.noteArrival(at: now) }
      }
      return altered
    }
  }
}

extension Publisher.State {
  /// Brings back what another client has altered, and everything where the broker has forgotten routers.
  mutating func restoreKept(at now: WireTime) {
    for topic in kept.altered {
      guard let place = states.devicePlace(of: topic) else {
        urgent.append(Publication(topic: topic, payload: [], retain: true))
        continue
      }
      urgent.append(states.publication(place, homes[place.home], at: now))
    }
    kept.altered.removeAll()
    if comparesDevices, let end = kept.arrivalEnds, end <= now { announceMissingDevices() }
    guard let end = kept.readingEnds, end <= now else { return }
    kept.readingEnds = nil
    kept.fingerprints.removeAll()
    let listed = homes.reduce(0) { $0 + $1.routers.totals.listed }
    if kept.routers < listed, walk == nil {
      notices.append(.republishes)
      republish(at: now)
    }
  }

  /// Those that the broker does not keep.
  private mutating func announceMissingDevices() {
    comparesDevices = false
    var walk = StateWalk(homes, announcesDevices: states.announcesDevices, saysPresence: false)
    while let place = walk.next(), place.isDevice {
      if !rightDevices.contains(place) { devices.add(place, row: 0) }
    }
    rightDevices.removeAll()
  }

  /// A device as the broker has it, or as somebody has published it.
  fileprivate mutating func checkDevice(
    _ message: IncomingMessage, of home: Int, at now: WireTime
  ) -> Publisher.AlteredDevice? {
    // What the broker keeps may be an earlier text of this daemon.
    guard message.isRetained || !kept.isOwn(message) else { return nil }
    let place = states.devicePlace(of: message.topic)
    let wanted = place.map { states.publication($0, homes[$0.home], at: now).payload } ?? []
    guard wanted != message.payload else {
      if comparesDevices, message.isRetained, let place { rightDevices.insert(place) }
      return nil
    }
    if message.isRetained {
      // It is announced when all have come that are as they should be.
      if comparesDevices, !wanted.isEmpty { return nil }
      if place == nil { kept.hasFormer = true }
    }
    var isButton = false
    switch place?.subject {
    case .questionDevice, .choiceDevice: isButton = !wanted.isEmpty
    default: break
    }
    // Home Assistant itself empties the topic of a device that a person deletes there. What waits keeps its buttons.
    guard !message.payload.isEmpty || isButton, kept.altered.count < 1_000 else { return nil }
    kept.altered.insert(message.topic)
    // What the broker kept may be an earlier text of our own, which a broker that was killed brings back.
    guard !message.isRetained, !message.payload.isEmpty, isButton || !kept.mayBeEarlier(at: now)
    else { return nil }
    return Publisher.AlteredDevice(
      topic: message.topic, home: states.name(home), isButton: isButton)
  }

  /// A state that the broker keeps.
  fileprivate mutating func correct(_ message: IncomingMessage, at now: WireTime) {
    guard !message.payload.isEmpty else { return }
    guard urgent.count < KeptTopics.mostCorrections else {
      kept.isComplete = false
      return
    }
    guard let (home, levels) = split(message.topic) else {
      if states.isFormer(message.topic) {
        kept.hasFormer = true
        urgent.append(Publication(topic: message.topic, payload: [], retain: true))
      }
      return
    }
    guard let subject = subject(levels, home) else { return }
    var wanted = Publication(topic: message.topic, payload: [], retain: true)
    if let subject = subject.known {
      let place = RetainedPlace(home: home, subject: subject)
      let found = states.publication(place, homes[home], at: now)
      if found.topic.hasBytes(of: message.topic) { wanted = found }
      if case .router = subject, !wanted.payload.isEmpty { kept.routers += 1 }
    }
    guard wanted.payload != message.payload else { return }
    urgent.append(wanted)
    if !kept.corrects { notices.append(.corrects(topic: wanted.topic)) }
    kept.corrects = true
  }

  private func split(_ topic: String) -> (home: Int, levels: [Substring])? {
    guard let (home, rest) = states.settings.topics.split(topic),
      let index = states.index(of: home.name)
    else { return nil }
    let levels = rest.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    return (index, levels.map { Substring($0) })
  }

  /// - Returns: nil for a topic that is none of these; without a subject where it can be about nothing.
  private mutating func subject(
    _ levels: [Substring], _ home: Int
  ) -> (known: RetainedPlace.Subject?, Void)? {
    switch (levels.first, levels.count) {
    case ("router", 2): (BorderAgentID(hex: levels[1]).map { .router($0) }, ())
    case ("router", 3) where levels[2] == "availability":
      (BorderAgentID(hex: levels[1]).map { .availability($0) }, ())
    case ("network", 2): (ExtendedPANID(hex: levels[1]).map { .network($0) }, ())
    case ("alert", 2):
      // Of the one that no home has, each connection publishes what is true.
      home == 0 && levels[1] == StoreAlert.fingerprint(home: states.name(0))
        ? nil : (alert(String(levels[1]), home).map { .alert($0) }, ())
    default: nil
    }
  }

  private mutating func alert(_ fingerprint: String, _ home: Int) -> AlertKey? {
    if let known = kept.fingerprints[home] { return known[fingerprint] }
    var found: [String: AlertKey] = [:]
    for key in homes[home].alerts.keys { found[states.fingerprint(key, home: home)] = key }
    kept.fingerprints[home] = found
    return found[fingerprint]
  }
}
