import Broker
import Home
import HomeStore
import KeychainCore
import Logging
import Synchronization

/// The connection that publishes: it holds the last will, and takes from the publisher and the answers that wait. It
/// needs no write to the store, so it can publish why the intake has stopped.
final class StatusConnection: MosquittoHandler {
  static let droppedMessages = "$SYS/broker/publish/messages/dropped"
  /// Of greetings. Those of the outbox count from 1, those of adoptions from 1 << 62.
  private static let firstToken: UInt64 = 1 << 63

  private let publisher: Publisher
  private let requests: RequestService
  private let loop: HomeLoop
  private let store: any DaemonStore
  private let monitor: BridgeMonitor
  private let clock: any Clock
  private let activity: Activity
  private let health: HealthReports
  private let refusals: RefusedPublications
  private let logger: Logger
  private let lastDropped = Mutex<Int64?>(nil)
  private let zigbee = Mutex(ZigbeeChannels())
  private let look = Mutex(Look.waits)
  /// Each is logged once, until the broker takes all.
  private let refusedFilters = Mutex(Noticed<String>())

  /// Nothing is published before the broker has shown whose the base topics are. It sends what it keeps with its
  /// answers to the subscriptions, so before it acknowledges the greeting that comes after them.
  private enum Look {
    case waits
    case isDue
    case asks(Set<UInt64>)
    case isDone
  }

  init(
    _ publisher: Publisher, health: HealthReports, requests: RequestService, loop: HomeLoop, store: any DaemonStore,
    monitor: BridgeMonitor, clock: any Clock, activity: Activity, logger: Logger
  ) {
    self.health = health
    self.publisher = publisher
    self.requests = requests
    self.loop = loop
    self.store = store
    self.monitor = monitor
    self.clock = clock
    self.activity = activity
    refusals = RefusedPublications(monitor: monitor, devices: publisher.deviceFilters, logger: logger)
    self.logger = logger
  }

  func connected(_ session: MosquittoSession) {
    logger.info("status connected", metadata: ["session_present": "\(session.sessionPresent)"])
    monitor.update {
      $0.statusLink.isConnected = true
      $0.statusConnections += 1
    }
    if monitor.accepted(.status) { logger.warning("\(MutualEnds.reason)") }
    refusals.restart()
    look.withLock { $0 = .waits }
    zigbee.withLock { $0 = ZigbeeChannels() }
    publisher.connected(sessionPresent: session.sessionPresent, receivesOwn: session.protocolVersion == .v311)
    health.restart()
    health.publish(at: clock.now())
    activity.note()
  }

  func subscribed(refused: [SubscriptionRefusal]) {
    // Most homes have no zigbee2mqtt here, and an access list from before needs no line for it.
    let refused = refused.filter { $0.filter != ZigbeeChannels.topic }
    let isNews = refusedFilters.withLock { known in
      if refused.isEmpty { known.end { _ in true } }
      return refused.first.map { known.begins($0.filter) } == true
    }
    if let first = refused.first, isNews {
      logger.warning(
        "the broker refuses subscriptions, so what it keeps cannot be compared",
        metadata: ["filter": "\(first.filter)", "reason": "\(first.error.message)"])
    }
    publisher.subscribed(isComplete: refused.isEmpty)
    look.withLock { $0 = .isDue }
    activity.note()
  }

  /// Home Assistant's birth, the broker's own count of what it dropped, how zigbee2mqtt is, and what the broker keeps of
  /// our own.
  func received(_ batch: [IncomingMessage]) throws {
    defer { activity.note() }
    for message in batch where message.topic == Self.droppedMessages {
      guard let count = Int64(String(decoding: message.payload, as: UTF8.self)) else { continue }
      lastDropped.withLock { $0 = count }
    }
    var batch = batch
    for message in batch where message.topic == ZigbeeChannels.topic { zigbee.withLock { $0.take(message.payload) } }
    batch.removeAll { $0.topic == ZigbeeChannels.topic }
    let now = clock.now()
    for altered in publisher.received(batch) {
      guard monitor.noteAltered(altered, at: now) else { continue }
      logger.warning(
        altered.isDevice
          ? "another client has altered a device of threadkeeper in Home Assistant; it is published again"
          : "another client has altered what threadkeeper publishes; it is published again",
        metadata: [
          "topic": "\(altered.topic)", "remedy": "put what `threadkeeper acl` prints into the broker's access list",
        ])
    }
  }

  func publications(upTo limit: Int) -> [Publication] {
    switch look.withLock({ $0 }) {
    case .waits, .asks: return []
    case .isDue:
      var greetings = publisher.greetings()
      for place in greetings.indices { greetings[place].token = Self.firstToken + UInt64(place) }
      look.withLock { $0 = .asks(Set(greetings.map(\.token))) }
      return greetings
    case .isDone: break
    }
    // Somebody waits for them. Where another daemon is, it answers.
    let connection = monitor.update { $0.statusConnections }
    var answers: [Publication] = []
    while answers.count < limit {
      let next = requests.queue.next(limit - answers.count, connection: connection, at: clock.now())
      if next.isEmpty { break }
      for answer in next {
        if publisher.isHeld(answer.topic) {
          _ = requests.queue.settled(answer.token, isDelivered: false)
        } else {
          answers.append(answer)
        }
      }
    }
    loop.acknowledged(upTo: publisher.deletable)
    var publications = publisher.publications(upTo: limit - answers.count)
    if !answers.isEmpty { publications.insert(contentsOf: answers, at: 0) }
    if let error = publisher.readFailure {
      if let reason = monitor.readFailed(error, path: store.place, at: clock.now()) {
        logger.error("the outbox cannot be read", metadata: ["reason": "\(reason)"])
      }
    } else {
      monitor.readWorks()
    }
    return publications
  }

  func acknowledged(_ publication: SentPublication, _ outcome: PublicationOutcome) {
    let token = publication.token
    // Nearly all are the publisher's.
    if !publisher.acknowledged(token, outcome) {
      noteLook(token)
      if let order = requests.queue.settled(token, isDelivered: outcome == .delivered) {
        _ = try? loop.perform(.delivered(message: order.message), in: order.home)
      }
    }
    let isRegained = refusals.acknowledged(publication, outcome)
    // Nothing follows from the delivery of what has no token, such as the daemon's health each minute.
    defer { if token != 0 || outcome != .delivered || isRegained { activity.note() } }
    // Once the broker's access list is corrected, all that the daemon has is published there.
    guard isRegained else { return }
    publisher.accessRegained()
    health.restart()
    for home in loop.homes.snapshot.homes.keys { _ = try? loop.perform(.deliveriesAreDue, in: home) }
  }

  private func noteLook(_ token: UInt64) {
    let isDone = look.withLock { look in
      guard case .asks(var tokens) = look, tokens.remove(token) != nil else { return false }
      look = tokens.isEmpty ? .isDone : .asks(tokens)
      return tokens.isEmpty
    }
    if isDone { publisher.looked() }
  }

  func sessionRegained() {
    monitor.regained(.status)
    logger.notice("the status session is no longer contested")
  }

  func disconnected(_ event: MosquittoDisconnection) {
    let end = monitor.ended(.status, event)
    if end.areMutual { logger.warning("\(MutualEnds.reason)") }
    publisher.disconnected()
    refusals.restart()
    defer { activity.note() }
    logger.log(
      level: end.isNews ? .warning : .debug, "status disconnected", metadata: ["reason": "\(event.error.message)"])
  }

  /// Logs what the publisher has noticed.
  func logNotices() {
    for notice in publisher.takeNotices() {
      switch notice {
      case .corrects(let topic):
        logger.notice("the broker keeps what is not true any more; it is corrected", metadata: ["topic": "\(topic)"])
      case .republishes: logger.notice("the broker does not keep all states; they are published again")
      case .unreadable(let message):
        logger.error("a stored event cannot be read; it is left out", metadata: ["id": "\(message)"])
      }
    }
  }

  /// Nil while the broker has not sent all that it keeps.
  var zigbeeChannels: ZigbeeChannels? {
    guard case .isDone = look.withLock({ $0 }) else { return nil }
    return zigbee.withLock { $0 }
  }

  /// The broker's count of messages that it has dropped since it started.
  var dropped: Int64? { lastDropped.withLock { $0 } }
}
