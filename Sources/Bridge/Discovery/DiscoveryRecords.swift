import Home
import ServiceDiscovery
import ThreadDataset

/// What border routers advertise on the local network now, and how far it is written. One source decides at a time:
///
/// | the daemon's own search | an agent | whose list it is |
/// |---|---|---|
/// | has found a router since it runs | any | its own |
/// | has found none, or is not possible | reported within three minutes | the agent's, whole |
/// | has found none, or is not possible | has fallen silent | nobody's: what is listed stays as it was |
/// | runs and has found none, for three minutes | none has reported | nobody's: what is listed stays as it was |
/// | runs and has found none | none has reported since | its own |
///
/// Of two agents the first one counts until it falls silent, or one is trusted more: its login shares credentials, or is
/// Home Assistant's.
struct DiscoveryRecords {
  /// By the name of the service instance, in the order in which they came.
  private var records: [(name: String, host: String, router: BorderRouterAdvertisement)] = []
  private struct Code {
    let host: String
    let port: UInt16
    /// Milliseconds of the clock that nobody sets.
    let since: Int64
  }

  /// Services that are there while a code opens their routers, by their names.
  private var codes: [String: Code] = [:]
  /// What an agent sees of the local network.
  private struct Report {
    let user: String
    let isTrusted: Bool
    let list: [BorderRouterAdvertisement]
    let at: WireTime

    /// Seconds: three of its intervals, as for `ReportingAgent`.
    static let lifetime = 180

    /// A clock that was set back makes no report later.
    func isRecent(at now: WireTime) -> Bool { at <= now && now < at.adding(seconds: Self.lifetime) }
  }

  private var report: Report?
  private var hasFound = false
  /// Whether it ever has, and when its list was complete first.
  private var hasEverFound = false
  private var listedAt: WireTime?
  /// Milliseconds for which a code is valid at most (Thread 1.4): a router that restarts may leave the record behind.
  private static let codeLifetime: Int64 = 600_000
  var peers = TRELPeers()
  /// Records that cannot be used, by name, and why: the first ones, for anybody can publish more.
  private var unusable: [String: String] = [:]
  private static let mostUnusable = 200
  /// Whether a router that is not among the records is not there.
  private(set) var isComplete = false
  private(set) var obstacle: DiscoveryObstacle?
  /// When routers whose records have gone since the last round were seen last.
  private var lastSeen: [BorderAgentID: WireTime] = [:]
  /// Of the last round.
  private(set) var listed = 0
  private var refused: [RefusedSighting] = []
  var rounds = 0
  /// Why the last round failed.
  var failure: String?
  /// A round is due.
  var isScheduled = false
  var isStopped = false
  private var pace = DiscoveryPace()

  /// The agent that decides: a login. Nil: the daemon's own search does.
  var reporter: String? { hasFound ? nil : report?.user }

  func isReported(at now: WireTime) -> Bool { reporter != nil && report?.isRecent(at: now) == true }

  /// After a start, where only an agent sees routers, its first report takes its time: an empty list is none yet.
  private func mayBeReported(at now: WireTime) -> Bool {
    !hasEverFound && listedAt.map { $0 <= now && now < $0.adding(seconds: Report.lifetime) } == true
  }

  /// What is to be written; nil where nothing is known.
  mutating func look(at now: ClockMoment) -> Sightings? {
    if !isStopped, reporter != nil, let report {
      return report.isRecent(at: now.wall) ? Sightings(report.list, lastSeen: lastSeen, isReported: true) : nil
    }
    guard !isStopped, isComplete || !records.isEmpty, !mayBeReported(at: now.wall) else { return nil }
    comparePeers(at: now.wall)
    let open = openRecords(at: now)
    let routers = records.map { record in
      var router = record.router
      router.codePort = open[record.name]
      return router
    }
    return Sightings(routers, isComplete: isComplete, lastSeen: lastSeen)
  }

  /// The ports at which codes open the routers of records, by their names: that of the code's service, where one on its
  /// host has it, as with OpenThread; else all of its host. Anybody can publish more services with a router's host: the
  /// one that has a record's name counts before all others.
  private func openRecords(at now: ClockMoment) -> [String: UInt16] {
    var (own, others): ([String: UInt16], [String: UInt16]) = ([:], [:])
    for (name, code) in validCodes(at: now).sorted(by: { $0.key < $1.key }) {
      let names = records.filter { $0.host == code.host }.map(\.name)
      if names.contains(name) {
        own[name] = code.port
      } else {
        for one in names where others[one] == nil { others[one] = code.port }
      }
    }
    return own.merging(others) { own, _ in own }
  }

  private func validCodes(at now: ClockMoment) -> [String: Code] {
    codes.filter { now.steady < $0.value.since + Self.codeLifetime }
  }

  /// Hosts on which a code opens a router that has no record.
  func unnamedHosts(at now: ClockMoment) -> Set<String> {
    Set(validCodes(at: now).values.map(\.host)).subtracting(records.map(\.host))
  }

  private mutating func comparePeers(at now: WireTime) {
    peers.compare(
      hosts: Set(records.map(\.host)), addresses: Set(records.compactMap(\.router.extendedAddress)), at: now)
  }

  /// By name.
  mutating func unlisted(at now: WireTime) -> [UnlistedRecord] {
    // The last round may be long ago, where the clock was set or the machine slept.
    comparePeers(at: now)
    let records = refused.map { UnlistedRecord($0) } + unusable.map { UnlistedRecord(name: $0.key, reason: $0.value) }
    return (records + peers.leftOver(at: now)).sorted { $0.name < $1.name }
  }

  /// They are written: what has come since is left for the next round.
  mutating func written(_ sightings: Sightings, by home: Home?) {
    lastSeen = lastSeen.filter { sightings.lastSeen[$0.key] != $0.value }
    (listed, refused) = (home?.listedSightings ?? 0, home?.refusedSightings ?? [])
    failure = nil
  }

  /// Takes what an agent sees, which is all that is there.
  ///
  /// - Parameter isTrusted: more than other logins.
  /// - Returns: as `take`.
  mutating func take(_ list: [BorderRouterAdvertisement], of user: String, isTrusted: Bool, at now: WireTime) -> Int? {
    if let report, report.user != user, report.isRecent(at: now), report.isTrusted || !isTrusted { return nil }
    let isNews = report.map { $0.list != list || !$0.isRecent(at: now) } ?? true
    report = Report(user: user, isTrusted: isTrusted, list: list, at: now)
    return isNews && reporter != nil ? schedule(at: now) : nil
  }

  /// - Returns: milliseconds after which it is to be written; nil where that is due already, or there is nothing.
  mutating func take(_ update: ServiceUpdate, at now: WireTime) -> Int? {
    switch update {
    case .found(let record):
      guard let advertisement = BorderRouterAdvertisement(record) else {
        note(BorderRouterAdvertisement.flaw(record), of: record.name)
        return remove(record.name, seen: now, at: now)
      }
      unusable[record.name] = nil
      obstacle = nil
      (hasFound, hasEverFound) = (true, true)
      if let index = records.firstIndex(where: { $0.name == record.name }) {
        guard records[index].router != advertisement || records[index].host != record.host else { return nil }
        (records[index].host, records[index].router) = (record.host, advertisement)
      } else {
        records.append((record.name, record.host, advertisement))
      }
    case .unusable(let name, let reason):
      note(reason, of: name)
      return nil
    case .lost(let name, let silence):
      unusable[name] = nil
      let seen = now.adding(seconds: -Int(silence.components.seconds))
      return remove(name, seen: seen, at: now)
    case .listed:
      obstacle = nil
      isComplete = true
      listedAt = listedAt ?? now
    case .unavailable(let obstacle):
      // Nothing is known now. That is no sign that the routers have gone.
      records = []
      unusable = [:]
      (isComplete, hasFound) = (false, false)
      self.obstacle = obstacle
      return nil
    }
    return schedule(at: now)
  }

  /// - Returns: as `take`.
  mutating func takeCode(_ update: ServiceUpdate, at now: ClockMoment) -> Int? {
    switch update {
    case .found(let record):
      if let code = codes[record.name], code.host == record.host, code.port == record.port { return nil }
      codes[record.name] = Code(host: record.host, port: record.port, since: now.steady)
    case .lost(let name, _): if codes.removeValue(forKey: name) == nil { return nil }
    case .listed, .unusable: return nil
    case .unavailable: codes = [:]
    }
    return schedule(at: now.wall)
  }

  private mutating func schedule(at now: WireTime) -> Int? {
    guard !isScheduled, !isStopped else { return nil }
    isScheduled = true
    return pace.delay(at: now)
  }

  private mutating func note(_ reason: String, of name: String) {
    if unusable[name] != nil || unusable.count < Self.mostUnusable { unusable[name] = reason }
  }

  /// - Parameter seen: when its router was there last.
  private mutating func remove(_ name: String, seen: WireTime, at now: WireTime) -> Int? {
    guard let index = records.firstIndex(where: { $0.name == name }) else { return nil }
    for agent in records.remove(at: index).router.agents { lastSeen[agent] = seen }
    return schedule(at: now)
  }
}
