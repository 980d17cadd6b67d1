import Broker
import Home

/// What the broker, and other clients of it, do to the two connections.
extension BridgeMonitor {
  // MARK: Logins and sessions

  /// The user name or the password is another one from now on.
  func loginChanged() { update { ($0.intakeLogin, $0.statusLogin) = (.unknown, .unknown) } }

  /// Takes note when a connection was not made because the broker refuses the login.
  ///
  /// - Returns: whether the end of the connection is news. A login that is refused again for the
  ///   same reason is not: it is tried for as long as the daemon runs.
  func noteRefusal(_ event: MosquittoDisconnection, at connection: WritableKeyPath<Snapshot, Login> & Sendable) -> Bool
  {
    // A connection that was let in is lost for another reason, whatever it is called.
    guard event.error.reason == .credentials, !event.wasConnected else { return true }
    let refused = Login.refused(event.error.message)
    return update { snapshot in
      defer { snapshot[keyPath: connection] = refused }
      return snapshot[keyPath: connection] != refused
    }
  }

  /// Notes that another client took over the session of a connection.
  ///
  /// - Returns: whether this end of the connection is worth a line of the log: the first of a contest is.
  func noteTakeover(_ event: MosquittoDisconnection, of connection: WritableKeyPath<Snapshot, String?> & Sendable)
    -> Bool
  {
    guard event.error.reason == .sessionTakenOver else { return true }
    return update { snapshot in
      defer { snapshot[keyPath: connection] = event.error.message }
      return snapshot[keyPath: connection] == nil
    }
  }

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

extension BridgeMonitor {
  // MARK: The two connections and each other

  /// - Returns: whether it is news that they take over each other's session.
  func noteAccepted(_ link: MutualEnds.Link) -> Bool { noteMutualEnds { $0.accepted(link, at: .now) } }

  /// The same for the end of one that the broker had accepted.
  func noteEnd(_ link: MutualEnds.Link, _ event: MosquittoDisconnection) -> Bool {
    event.wasConnected && noteMutualEnds { $0.ended(link, at: .now) }
  }

  private func noteMutualEnds(_ change: @Sendable (inout MutualEnds) -> Void) -> Bool {
    update { snapshot in
      let wasOpen = snapshot.mutualEnds.isOpen
      change(&snapshot.mutualEnds)
      return !wasOpen && snapshot.mutualEnds.isOpen
    }
  }

  /// To be called now and then.
  func settleMutualEnds() { update { $0.mutualEnds.tick(at: .now) } }
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
  enum Link: Sendable { case intake, status }

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

  private var connected: Set<Link> = []
  private var togetherSince: ContinuousClock.Instant?
  private var lastArrival: (link: Link, at: ContinuousClock.Instant)?
  private var lastEnd: (link: Link, at: ContinuousClock.Instant)?
  private var count = 0

  var isOpen: Bool { count >= Self.enough }

  mutating func accepted(_ link: Link, at now: ContinuousClock.Instant) {
    connected.insert(link)
    if connected.count == 2 { togetherSince = now }
    lastArrival = (link, now)
    pair(at: now)
  }

  mutating func ended(_ link: Link, at now: ContinuousClock.Instant) {
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
