/// The services of one type that avahi-daemon has reported. A pure value: `AvahiSession` brings the events and does
/// what they ask for.
///
/// ```
/// event                         what is done
/// appeared, a new name          resolve; above the limit: refuse, and browse again when there is room
/// appeared, a known name        nothing: the service is seen on one more path
/// disappeared, the last path    release, lost (if it was found or unusable)
/// disappeared, another path     if it was resolved on that path: release, resolve on another
/// resolved, first or changed    found; too often: refuse, and found when the minute is over
/// failed, another path          release, resolve on that
/// failed on all paths           lost (if it was found), unusable (if it never resolved, once); after a while: release,
///                                 resolve again
/// resolved for the first time,  the other is released, lost (also where it is silent), and resolved again
///   at another's host and port    when this one is gone
/// allForNow, and each resolver  listed, once
///   started before has answered
/// every 5 minutes, sooner       query each
///   while one is silent
/// no answer within 10 seconds,  query it again, twice; then it is silent: lost (if it was found)
///   but one to an earlier query
/// no answer at all, where two   nothing is lost: they count as ones that have never answered
///   or more have answered before
/// too many packets in a round   nothing follows of the round
/// answer of a silent one        release, resolve again
/// resolved, a silent one        nothing; with a change: found
/// ```
/// A service is what its host stands behind: records of services live for 75 minutes, addresses for 2, and a power cut
/// withdraws neither. avahi-daemon renews the addresses of what it resolves, so a resolver fails when nobody answers. A
/// router that was reset keeps its host's name, and caches keep its former record: the later record at a host and port
/// counts. Records of the first listing have no order.
///
/// A program can die while its host still answers, and avahi-daemon does not ask for a record that it has. So services
/// are queried. Only one that has answered before can be silent: firewalls and some responders let no answer through. A
/// firewall that starts later silences all at once, so that is no sign of the services. Of one alone that is not known.
struct ServiceTable {
  struct ServicePlace: Equatable {
    let host: String
    let port: UInt16
  }

  /// What an event leads to, in this order.
  enum Action: Equatable {
    case resolve(name: String, path: ServicePath)
    /// The resolver of that name is not needed any more.
    case release(name: String)
    case report(ServiceUpdate)
    /// Send a query for it on each of these paths.
    case query(name: String, paths: Set<ServicePath>)
    /// No more answers are waited for.
    case endQueries
    /// End the browser and begin another, which reports all that is there.
    case browseAgain
    /// Something is not reported: count it.
    case refuse(Int)
  }

  /// Paths of one service that are known. A host has few interfaces.
  static let maximumPaths = 32

  /// How long a service has been silent at least when its resolver fails after it was found: the lifetime of an address
  /// (RFC 6762, section 10), and the 5 seconds in which avahi-daemon looks for another one.
  static let silence = Duration.seconds(125)

  /// Why a service is unusable of which there is no more than its name.
  static let unresolved =
    "nobody says where it is and what it offers: its SRV or TXT record, or its host's address, is missing or invalid"

  /// Queries that a service leaves unanswered before it is silent.
  static let maximumQueries = 3

  struct Service {
    /// With the number of the listing in which it was seen last.
    var paths: [ServicePath: Int]
    var resolvedPath: ServicePath
    /// What the resolver said last, and what of it was reported.
    var current: ServiceRecord?
    var reported: ServiceRecord?
    /// Whether its end is to be reported: it was found, or is unusable.
    var reportsEnd = false
    var pace = ChangePace()
    /// Paths on which it did not resolve since it did last, and when all had failed.
    var failedPaths: Set<ServicePath> = []
    var failedAt: ContinuousClock.Instant?
    /// Where it was when it last resolved; nil: it never did.
    var place: ServicePlace?
    /// It never resolved, and that was reported.
    var isUnusable = false
    /// A later service at the same place.
    var replacement: String?
    /// Whether it has answered a query, and answers have got through since.
    var answersQueries = false
    /// What the resolver said before it answered no more; nil: it is not silent.
    var silentRecord: ServiceRecord?
  }

  let limits: ServiceLimits
  var services: [String: Service] = [:]
  /// Resolvers that have not answered yet.
  var unanswered: Set<String> = []
  /// Of those, the ones that the first listing waits for. Nil before all names are known.
  var awaited: Set<String>?
  private(set) var isListed = false
  /// The number of the present listing: a new browser begins a new one.
  var listing = 0
  var isOverLimit = false
  var lastListing: ContinuousClock.Instant
  /// Of services that have just gone.
  var paces: [String: ChangePace] = [:]
  /// When `query` has something to do again.
  private(set) var nextQuery: ContinuousClock.Instant
  /// Queries of the present round that were sent, and the services that have answered none of them.
  private var queries = 0
  private var queried: Set<String> = []
  /// Whether any service has answered in the present round.
  private var isAnyAnswer = false

  init(limits: ServiceLimits, now: ContinuousClock.Instant) {
    self.limits = limits
    lastListing = now
    nextQuery = now + limits.queryInterval
  }

  mutating func appeared(_ name: String, on path: ServicePath) -> [Action] {
    if var service = services[name] {
      if service.paths[path] != nil || service.paths.count < Self.maximumPaths { service.paths[path] = listing }
      services[name] = service
      return []
    }
    guard services.count < limits.maximumServices else {
      isOverLimit = true
      return [.refuse(1)]
    }
    services[name] = Service(
      paths: [path: listing], resolvedPath: path, pace: paces.removeValue(forKey: name) ?? .init())
    unanswered.insert(name)
    return [.resolve(name: name, path: path)]
  }

  mutating func disappeared(_ name: String, on path: ServicePath) -> [Action] {
    guard var service = services[name], service.paths.removeValue(forKey: path) != nil else { return [] }
    guard let other = service.paths.keys.first else {
      services[name] = nil
      // Who comes and goes all the time is not new each time.
      if paces.count < limits.maximumServices { paces[name] = service.pace }
      let lost: [Action] = service.reportsEnd ? [.report(.lost(name: name))] : []
      return [.release(name: name)] + lost + bringBack(replacedBy: name) + answered(name)
    }
    let isResolved = service.resolvedPath == path
    if isResolved { service.resolvedPath = other }
    services[name] = service
    guard isResolved, service.replacement == nil else { return [] }
    return [.release(name: name), .resolve(name: name, path: other)]
  }

  mutating func resolved(_ record: ServiceRecord, at now: ContinuousClock.Instant) -> [Action] {
    guard var service = services[record.name] else { return [] }
    service.failedPaths = []
    service.failedAt = nil
    service.isUnusable = false
    if record == service.silentRecord {
      // Its host answers, and its records are from avahi-daemon's cache.
      services[record.name] = service
      return answered(record.name)
    }
    service.silentRecord = nil
    let place = ServicePlace(host: record.host, port: record.port)
    var actions = service.place == nil && isListed ? replace(at: place, by: record.name) : []
    service.place = place
    if record != service.current {
      let refused = record.text.refused
      // What it replaces was never reported.
      let replaced = service.current != service.reported ? 1 : 0
      if refused + replaced > 0 { actions.append(.refuse(refused + replaced)) }
    }
    service.current = record
    services[record.name] = service
    actions += report(record.name, at: now)
    return actions + answered(record.name)
  }

  /// No answer, none any more, or one that cannot be used.
  mutating func failed(_ name: String, at now: ContinuousClock.Instant) -> [Action] {
    guard var service = services[name] else { return [] }
    service.failedPaths.insert(service.resolvedPath)
    if let other = service.paths.keys.first(where: { !service.failedPaths.contains($0) }) {
      service.resolvedPath = other
      services[name] = service
      return [.release(name: name), .resolve(name: name, path: other)]
    }
    var actions: [Action] = service.reported == nil ? [] : [.report(.lost(name: name, silence: Self.silence))]
    if service.place == nil, !service.isUnusable {
      (service.isUnusable, service.reportsEnd) = (true, true)
      actions.append(.report(.unusable(name: name, reason: Self.unresolved)))
    }
    (service.current, service.reported, service.failedAt) = (nil, nil, now)
    services[name] = service
    return actions + answered(name)
  }

  private mutating func replace(at place: ServicePlace, by replacement: String) -> [Action] {
    var actions: [Action] = []
    for (name, service) in services where name != replacement && service.place == place {
      if service.replacement == nil { actions.append(.release(name: name)) }
      if service.reportsEnd { actions.append(.report(.lost(name: name))) }
      services[name]?.replacement = replacement
      services[name]?.current = nil
      services[name]?.reported = nil
      services[name]?.reportsEnd = false
      services[name]?.failedAt = nil
      services[name]?.silentRecord = nil
    }
    return actions
  }

  private mutating func bringBack(replacedBy replacement: String) -> [Action] {
    services.filter { $0.value.replacement == replacement }.map { name, service in
      services[name]?.replacement = nil
      return .resolve(name: name, path: service.resolvedPath)
    }
  }

  /// Reports what a service says now, if it is news and not too often.
  mutating func report(_ name: String, at now: ContinuousClock.Instant) -> [Action] {
    guard var service = services[name], let current = service.current, current != service.reported else { return [] }
    guard service.pace.admits(limits.changesPerMinute, at: now) else { return [] }
    (service.reported, service.reportsEnd) = (current, true)
    services[name] = service
    return [.report(.found(current))]
  }

  private mutating func answered(_ name: String) -> [Action] {
    unanswered.remove(name)
    awaited?.remove(name)
    return listedIfComplete()
  }

  mutating func listedIfComplete() -> [Action] {
    guard !isListed, awaited?.isEmpty == true else { return [] }
    isListed = true
    return [.report(.listed)]
  }
}

extension ServiceTable {
  /// The browser has reported all that is there at present (`AVAHI_BROWSER_ALL_FOR_NOW`).
  mutating func allForNow() -> [Action] {
    // What an earlier browser had seen and this one has not is gone.
    let gone = services.flatMap { name, service in service.paths.filter { $0.value < listing }.map { (name, $0.key) } }
    let actions = gone.flatMap { disappeared($0, on: $1) }
    if awaited == nil { awaited = unanswered }
    return actions + listedIfComplete()
  }

  /// Does what waits for its time. To be called after every other event.
  mutating func tick(_ now: ContinuousClock.Instant) -> [Action] {
    var actions: [Action] = []
    for (name, service) in services where service.current != service.reported { actions += report(name, at: now) }
    for (name, service) in services {
      guard let failed = service.failedAt, failed + limits.retryInterval <= now else { continue }
      actions += resolveAgain(name)
    }
    paces = paces.filter { $0.value.nextMinute.map { $0 > now } ?? false }
    if let time = nextListing, time <= now {
      isOverLimit = false
      lastListing = now
      listing += 1
      actions.append(.browseAgain)
    }
    return actions
  }

  private mutating func resolveAgain(_ name: String) -> [Action] {
    guard let service = services[name] else { return [] }
    services[name]?.failedAt = nil
    services[name]?.failedPaths = []
    return [.release(name: name), .resolve(name: name, path: service.resolvedPath)]
  }

  /// When `tick` has something to do again; nil: not by itself.
  var nextTick: ContinuousClock.Instant? {
    let changes = services.values.lazy.filter { $0.current != $0.reported }.compactMap(\.pace.nextMinute)
    let retries = services.values.lazy.compactMap(\.failedAt).map { $0 + limits.retryInterval }
    return [changes.min(), retries.min(), nextListing].compactMap(\.self).min()
  }

  /// When to look for services that were over the limit: there is room again, and not too often.
  private var nextListing: ContinuousClock.Instant? {
    guard isOverLimit, services.count < limits.maximumServices else { return nil }
    return lastListing + limits.listingInterval
  }
}

// MARK: Queries

extension ServiceTable {
  /// Begins or continues a round of queries when it is time.
  mutating func query(_ now: ContinuousClock.Instant) -> [Action] {
    guard nextQuery <= now else { return [] }
    if queries == 0 {
      isAnyAnswer = false
      queried = Set(services.filter { $0.value.current != nil || $0.value.silentRecord != nil }.keys)
    } else {
      queried = queried.filter { name in services[name].map { $0.answersQueries && $0.current != nil } ?? false }
    }
    guard queries == Self.maximumQueries || queried.isEmpty else {
      queries += 1
      nextQuery = now + limits.queryTimeout
      return queried.map { .query(name: $0, paths: Set(services[$0]?.paths.keys.map(\.self) ?? [])) }
    }
    var actions: [Action] = []
    if queried.count > 1, !isAnyAnswer {
      for name in queried { services[name]?.answersQueries = false }
    } else {
      actions = queried.flatMap { fellSilent($0) }
    }
    queries = 0
    // A program that restarts reports nothing that is new to avahi-daemon.
    let isAnySilent = services.values.contains { $0.silentRecord != nil }
    nextQuery = now + (isAnySilent ? limits.silentInterval : limits.queryInterval)
    return [.endQueries] + actions
  }

  private mutating func fellSilent(_ name: String) -> [Action] {
    guard var service = services[name] else { return [] }
    let silence = limits.queryTimeout * Self.maximumQueries
    let lost: [Action] = service.reported == nil ? [] : [.report(.lost(name: name, silence: silence))]
    service.silentRecord = service.current
    (service.current, service.reported) = (nil, nil)
    services[name] = service
    return lost
  }

  /// A query could not be sent, so nothing follows from its not being answered.
  mutating func querySendingFailed(_ name: String) { queried.remove(name) }

  /// Answers were not read, so nothing follows from a missing one.
  mutating func queriesFlooded() { queried = [] }

  mutating func queryAnswered(_ name: String) -> [Action] {
    queried.remove(name)
    isAnyAnswer = true
    services[name]?.answersQueries = true
    guard services[name]?.silentRecord != nil else { return [] }
    services[name]?.silentRecord = nil
    return resolveAgain(name)
  }
}

/// A service on the local network, as it describes itself. Nothing of it is authenticated.
package struct ServiceRecord: Sendable, Equatable {
  /// The instance name (RFC 6763, section 4.1.1): 1 to 63 bytes of UTF-8, without control characters.
  package let name: String
  /// The host that offers it, such as `router.local`: 1 to 255 bytes of UTF-8, without control characters.
  package let host: String
  /// Of the host, such as `192.168.1.7` or `fe80::1%eth0`; nil where it is not known.
  package let address: String?
  package let port: UInt16
  package let text: TXTRecord

  package init(name: String, host: String, address: String? = nil, port: UInt16, text: TXTRecord) {
    self.name = name
    self.host = host
    self.address = address
    self.port = port
    self.text = text
  }
}

/// A way on which a service is seen. The same service is often seen on several.
struct ServicePath: Hashable, Sendable {
  /// The index of the network interface (`AvahiIfIndex`).
  var interface: Int32
  /// IPv4 or IPv6 (`AvahiProtocol`): what the query is sent over.
  var `protocol`: Int32
}

/// What a `ServiceBrowser` has noticed.
package enum ServiceUpdate: Sendable, Equatable {
  /// A service is there, or what it says has changed.
  case found(ServiceRecord)
  /// There is a service of this name, and it is not reported. Why, as a clause. Until `found`, or `lost`.
  case unusable(name: String, reason: String)
  /// It withdrew its records (RFC 6762, section 10.1), they expired, its host has no address any more, or it answers no
  /// more queries. Only after `found` or `unusable`; of one that was lost in silence again, when its records have gone.
  ///
  /// - silence: for how long it had not answered by then; zero: nothing announces it any more.
  case lost(name: String, silence: Duration = .zero)
  /// All that was there when browsing began has been reported. Once after the start, and once after each `unavailable`.
  case listed
  /// Nothing can be found at present, and none of the services found before is known any more. When it ends, they are
  /// found again. Another one follows when the reason changes.
  case unavailable(DiscoveryObstacle)
}

/// What a `ServiceBrowser` does at most, whatever is published on the network.
package struct ServiceLimits: Sendable, Equatable {
  /// Services known at a time. Others are looked at when one of these is lost. A home has some ten border routers.
  package var maximumServices: Int
  /// Changes of one service that are reported in a minute, its first record among them. Of more, the last is reported
  /// when the minute is over.
  package var changesPerMinute: Int
  /// Time after which services that were over the limit are looked for again.
  package var listingInterval: Duration
  /// Time after which a service that does not resolve is asked for again.
  package var retryInterval: Duration
  /// Time between two rounds of queries, and the same while a service is silent.
  package var queryInterval: Duration
  package var silentInterval: Duration
  /// Time in which a query is answered.
  package var queryTimeout: Duration

  package init(
    maximumServices: Int = 200, changesPerMinute: Int = 10, listingInterval: Duration = .seconds(60),
    retryInterval: Duration = .seconds(300), queryInterval: Duration = .seconds(300),
    silentInterval: Duration = .seconds(10), queryTimeout: Duration = .seconds(10)
  ) {
    self.maximumServices = maximumServices
    self.changesPerMinute = changesPerMinute
    self.listingInterval = listingInterval
    self.retryInterval = retryInterval
    self.queryInterval = queryInterval
    self.silentInterval = silentInterval
    self.queryTimeout = queryTimeout
  }
}
