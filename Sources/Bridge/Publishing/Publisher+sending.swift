import Broker
import Home
import HomeStore
import KeychainCore
import Synchronization

/// What goes out next, and in which order: devices, states, events, what can wait.
extension Publisher.State {
  /// Whether nothing waits to be handed out.
  var isIdle: Bool {
    urgent.isEmpty && ready.isEmpty && devices.first == nil && dirty.first == nil && removals.first == nil
      && late.isEmpty && walk == nil && !outbox.hasMore
  }

  mutating func fill(_ limit: Int, at now: WireTime) {
    // About so many: an event is mostly two messages.
    let events = walk == nil && readFailure == nil ? 2 * outbox.unread : 0
    ready.reserveCapacity(min(limit, devices.count + dirty.count + events))
    while ready.count < limit {
      if sendDevice(at: now) || sendNext(at: now) || sendRemoval(at: now) { continue }
      if sendLate(at: now) { continue }
      guard walk != nil else { return }
      guard let place = walk?.next() else {
        // Messages may have waited for its end.
        walk = nil
        continue
      }
      if place.isDevice, refusesDevices { continue }
      let publication = render(place, at: now)
      // The device of a router that has left meanwhile is emptied after the last event.
      if place.isDevice, publication.payload.isEmpty { continue }
      send(publication, place)
    }
  }

  mutating func render(_ place: RetainedPlace, at now: WireTime) -> Publication {
    let publication = homes[place.home].lend { home in
      states.publication(place, home, at: now, storeAlert: storeAlert.flatMap { $0.endsAt == nil ? $0 : nil })
    }
    switch place.subject {
    case .questionDevice, .choiceDevice, .disputeDevice:
      // It may be another than when it was found: then it is found again.
      if publication.payload.isEmpty {
        buttons[place.home]?.remove(place.subject)
      } else {
        buttons[place.home, default: []].insert(place.subject)
      }
    default: break
    }
    return publication
  }

  private mutating func send(_ place: RetainedPlace, at now: WireTime) { send(render(place, at: now), place) }

  private mutating func send(_ publication: consuming Publication, _ place: RetainedPlace) {
    publication.token = underWay.add(.state(place))
    kept.noteRight(place)
    ready.append(publication)
  }

  /// - Returns: whether something was due.
  private mutating func sendDevice(at now: WireTime) -> Bool {
    guard let place = devices.first else { return false }
    let lastRow = devices.removeFirst()
    let publication = render(place, at: now)
    if publication.payload.isEmpty {
      removals.add(place, row: lastRow)
    } else if refusesDevices {
      owesAll = true
    } else if devicePace.admits(place, at: now) {
      send(publication, place)
    }
    return true
  }

  private mutating func sendNext(at now: WireTime) -> Bool {
    // Also before events of others: what is true now does not wait for what has happened.
    if let place = dirty.first {
      dirty.removeFirst()
      send(place, at: now)
      return true
    }
    guard let row = nextRow(), walk == nil || row.id > lastOfEarlier else { return false }
    let first = ready.count
    switch OutboxRow(row.bytes) {
    case .message(let topic, let payload): ready.append(Publication(topic: topic, payload: payload))
    // Those of a home that the settings have no more have no topic.
    case .events(let stored): events[stored.home]?.append(stored, to: &ready)
    case nil: notices.append(.unreadable(message: row.id))
    }
    for place in first..<ready.count { ready[place].token = underWay.add(.message(row: row.id)) }
    outbox.send(row, messages: ready.count - first)
    return true
  }

  /// States do not wait for a store that cannot be read.
  private mutating func nextRow() -> StoredMessage? {
    guard triesToRead else { return nil }
    do {
      let row = try outbox.next()
      readFailure = nil
      return row
    } catch {
      (readFailure, triesToRead) = (error, false)
      return nil
    }
  }

  private mutating func sendRemoval(at now: WireTime) -> Bool {
    guard let place = removals.first else { return false }
    let row = nextRow()
    guard readFailure == nil, row.map({ $0.id > removals.lastRow(of: place) }) ?? true else { return false }
    removals.removeFirst()
    send(place, at: now)
    return true
  }

  /// All that is late of one home.
  private mutating func sendLate(at now: WireTime) -> Bool {
    let home = late.keys.first { lateDue || homes[$0].value.alerts.count < Publisher.large }
    guard let home, let subjects = late.removeValue(forKey: home) else {
      lateDue = false
      return false
    }
    for subject in subjects { send(RetainedPlace(home: home, subject: subject), at: now) }
    return true
  }
}

/// When a device of the last 4,096 that were announced may be announced again: not before five seconds have passed,
/// however often a router comes, goes or changes its name. Home Assistant sets up the whole device again each time.
struct DevicePace {
  private static let seconds = 5
  /// So many are remembered at least. All of 40,000 routers that come at once would take ten megabytes.
  static let most = 4_096

  /// When each was announced. `before` takes over `sent` each five seconds, or where that is full, and what it had is
  /// forgotten: to look at each one with every tick would hold up whoever notes a change.
  private var sent: [RetainedPlace: WireTime] = [:]
  private var before: [RetainedPlace: WireTime] = [:]
  private var exchangedAt: WireTime?
  private var held: Set<RetainedPlace> = []

  /// Whether it may be announced now; else it is held. Buttons are announced once, and the home's device at a start.
  mutating func admits(_ place: RetainedPlace, at now: WireTime) -> Bool {
    guard case .routerDevice = place.subject else { return true }
    guard !isRecent(sent[place] ?? before[place], at: now) else {
      held.insert(place)
      return false
    }
    if sent.count == Self.most { exchange(at: now) }
    sent[place] = now
    return true
  }

  private mutating func exchange(at now: WireTime) { (before, sent, exchangedAt) = (sent, [:], now) }

  private func isRecent(_ time: WireTime?, at now: WireTime) -> Bool {
    time.map { $0 <= now && now < $0.adding(seconds: Self.seconds) } ?? false
  }

  /// Those that were held and may be announced now.
  mutating func released(at now: WireTime) -> [RetainedPlace] {
    if !isRecent(exchangedAt, at: now) { exchange(at: now) }
    let released = held.filter { !isRecent(sent[$0] ?? before[$0], at: now) }
    held.subtract(released)
    return Array(released)
  }
}

/// Lets the intake go first: while full batches come in one after another, publications are given out in small
/// portions, and the rest follows when the burst is over.
struct PublicationPace {
  private static let share = 50

  private let fullBatch: Int
  private let portion: Int
  private var isBurst = false
  private var credit = 0
  private var cameSinceLook = false

  /// - Parameters:
  ///   - fullBatch: messages of a batch that is followed by another at once.
  ///   - portion: publications for each such batch; for a large one, one for each `share` messages.
  init(fullBatch: Int, portion: Int) {
    self.fullBatch = fullBatch
    self.portion = portion
  }

  mutating func batchCommitted(messages: Int) {
    let portion = max(portion, messages / Self.share)
    isBurst = messages >= fullBatch
    cameSinceLook = true
    credit = min(credit + portion, max(credit, 4 * portion))
  }

  /// The burst is over if nothing came since the last look.
  mutating func look() {
    if !cameSinceLook { isBurst = false }
    cameSinceLook = false
  }

  mutating func allowed(_ limit: Int) -> Int {
    guard isBurst else { return limit }
    let allowed = min(limit, credit)
    credit -= allowed
    return allowed
  }
}
