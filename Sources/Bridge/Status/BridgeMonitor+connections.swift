import Broker
import Home

/// What the broker, and other clients of it, do to the two connections.
extension BridgeMonitor {
  // MARK: Logins and sessions

  /// The user name or the password is another one from now on.
  func loginChanged() { update { ($0.intakeLink.login, $0.statusLink.login) = (.unknown, .unknown) } }

  /// The broker has accepted a connection.
  ///
  /// - Returns: whether it is news that the two take over each other's session.
  func accepted(_ link: MutualEnds.Connection) -> Bool {
    update { snapshot in
      snapshot[keyPath: link.path].login = .accepted
      return snapshot.noteMutualEnds { $0.accepted(link, at: .now) }
    }
  }

  /// A connection has ended, or was not made.
  ///
  /// - Returns: whether that is worth a line of the log, and whether it is news that the two take over each other's
  ///   session.
  func ended(_ link: MutualEnds.Connection, _ event: MosquittoDisconnection) -> (isNews: Bool, areMutual: Bool) {
    update { snapshot in
      snapshot.lastConnectionProblem = event.error.message
      let isNews = snapshot[keyPath: link.path].end(event)
      return (isNews, event.wasConnected && snapshot.noteMutualEnds { $0.ended(link, at: .now) })
    }
  }

  /// A session has been the daemon's own for long enough.
  func regained(_ link: MutualEnds.Connection) { update { $0[keyPath: link.path].takeover = nil } }

  /// To be called now and then.
  func settleMutualEnds() { update { $0.mutualEnds.tick(at: .now) } }

  // MARK: Altered topics

  /// Another client has written where the daemon publishes.
  struct AlteredTopic: Sendable, Equatable {
    /// Seconds for which it counts, and for which nothing is decided by buttons where it had some.
    static let seconds = 60

    struct Key: Hashable {
      let alert: AlertName
      /// Its name.
      let home: String
    }

    let topic: String
    let at: WireTime
  }

  /// - Returns: whether this is news.
  func noteAltered(_ altered: Publisher.AlteredTopic, at now: WireTime) -> Bool {
    let key = AlteredTopic.Key(alert: altered.isDevice ? .discoveryAltered : .stateAltered, home: altered.home)
    let isNews = !self.altered(at: now).keys.contains(key)
    update {
      $0.altered[key] = AlteredTopic(topic: altered.topic, at: now)
      if altered.isButton { $0.alteredButtonAt = now }
    }
    return isNews
  }

  /// Whether a device with buttons was altered less than a minute ago: nothing is decided by buttons.
  func refusesButtons(at now: WireTime) -> Bool {
    guard let altered = snapshot.alteredButtonAt else { return false }
    return now < altered.adding(seconds: AlteredTopic.seconds)
  }

  /// What was altered less than a minute ago.
  func altered(at now: WireTime) -> [AlteredTopic.Key: AlteredTopic] {
    snapshot.altered.filter { now < $0.value.at.adding(seconds: AlteredTopic.seconds) }
  }
}

extension BridgeMonitor.Snapshot {
  fileprivate mutating func noteMutualEnds(_ change: (inout MutualEnds) -> Void) -> Bool {
    let wasOpen = mutualEnds.isOpen
    change(&mutualEnds)
    return !wasOpen && mutualEnds.isOpen
  }
}

/// Whether the daemon's own two connections take over each other's session. A broker that gives all clients of a login
/// one client id ends each of them when the other one comes, so they are never there together:
///
/// ```
/// intake  ────┐        ┌────────┐        ┌──── …
/// status      └────────┘        └────────┘
/// ```
/// Neither of them alone can distinguish that from a broker that restarts.
struct MutualEnds: Sendable {
  enum Connection: Sendable {
    case intake, status

    fileprivate var path: WritableKeyPath<BridgeMonitor.Snapshot, BridgeMonitor.Connection> {
      self == .intake ? \.intakeLink : \.statusLink
    }
  }

  /// An end of one and the arrival of the other that are so near belong together; the broker does both at once, and the
  /// threads of the connections find out in any order.
  private static let near = Duration.seconds(1)
  /// So many in a row are no coincidence.
  private static let enough = 3
  /// A connection that lost its session comes back before that.
  private static let settledAfter = MosquittoConfiguration.Backoff().uncontestedAfter

  static let reason =
    "the broker ends each of the daemon's two connections when the other one comes: it gives all "
    + "clients of a login one client id"

  private var connected: Set<Connection> = []
  private var togetherSince: ContinuousClock.Instant?
  private var lastArrival: (link: Connection, at: ContinuousClock.Instant)?
  private var lastEnd: (link: Connection, at: ContinuousClock.Instant)?
  private var count = 0

  var isOpen: Bool { count >= Self.enough }

  mutating func accepted(_ link: Connection, at now: ContinuousClock.Instant) {
    connected.insert(link)
    if connected.count == 2 { togetherSince = now }
    lastArrival = (link, now)
    pair(at: now)
  }

  mutating func ended(_ link: Connection, at now: ContinuousClock.Instant) {
    connected.remove(link)
    if let since = togetherSince, now >= since + Self.near { count = 0 }
    togetherSince = nil
    lastEnd = (link, now)
    pair(at: now)
  }

  mutating func tick(at now: ContinuousClock.Instant) {
    if let since = togetherSince, now >= since + Self.settledAfter { count = 0 }
  }

  private mutating func pair(at now: ContinuousClock.Instant) {
    guard let end = lastEnd, let arrival = lastArrival, end.link != arrival.link,
      now < min(end.at, arrival.at) + Self.near
    else { return }
    count += 1
    (lastEnd, lastArrival) = (nil, nil)
  }
}
