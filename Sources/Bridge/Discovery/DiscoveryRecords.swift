import Home
import ServiceDiscovery
import ThreadDataset

/// What border routers advertise on the local network now, as the daemon's own search and sightings of logins have it,
/// and how far it is written. For each router the first row counts that fits:
///
/// | the daemon's own search | the sightings of logins | the router |
/// |---|---|---|
/// | has its record | any | is there, as its record says |
/// | has lost its record, less than 75 minutes ago | any | has gone: others keep the record for so long |
/// | has no record of it | have it, for three minutes at most; the first login by name | is there, as they say |
/// | had it last, and has started again, or is not possible | have it not | stays as it was |
/// | had it last, and has not been possible for three minutes | some are there, without it | has gone |
/// | had it last, and is complete | have it not | has gone |
/// | has no record of it | had it last, and are silent for less than a day, or since a start in the last day | stays |
/// | has no record of it | had it last, and are there without it, or silent for longer | has gone |
///
/// Where the search is not possible or has started again, and there are no sightings, all stays as it was. That a login
/// is silent, `AgentNotWorking` says. Which logins may send sightings: `mayReportSightings`.
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
  /// What a login sees of the local network.
  private struct Report {
    let list: [BorderRouterAdvertisement]
    /// Milliseconds of the clock that nobody sets.
    let at: Int64

    /// Three of its intervals, as for `ReportingAgent`.
    static let lifetime: Int64 = 180_000
    /// What only a silent login has seen stays for so long: programs are updated, and machines restarted.
    static let longestSilence: Int64 = 86_400_000

    func isFresh(at now: ClockMoment) -> Bool { now.steady < at + Self.lifetime }
  }

  private var reports: [ExactName: Report] = [:]
  /// When the first look was, on the clock that nobody sets.
  private var begunAt: Int64?
  /// Since when the daemon's own search is not possible.
  private var obstacleSince: WireTime?
  /// By the ids of records that the daemon's own search has lost: when it did.
  private var lost: [BorderAgentID: WireTime] = [:]
  /// Seconds for which caches keep a record whose router has gone.
  private static let longestInCaches = 4_500
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

  /// The login of an agent by which some of the last round are listed.
  private(set) var reporter: String?

  /// Whether the sightings of a login count now.
  func isReported(at now: ClockMoment) -> Bool { reports.values.contains { $0.isFresh(at: now) } }

  /// Whether routers are there only by the sightings of logins that are silent.
  func isSilent(at now: ClockMoment) -> Bool { records.isEmpty && !reports.isEmpty && !isReported(at: now) }

  /// What is to be written; nil where nothing is known.
  ///
  /// - Parameter mayReport: whether the sightings of a login count.
  mutating func look(at now: ClockMoment, mayReport: (ExactName) -> Bool = { _ in true }) -> Sightings? {
    let begun = begunAt ?? now.steady
    begunAt = begun
    reports = reports.filter { mayReport($0.key) && now.steady < $0.value.at + Report.longestSilence }
    guard !isStopped, isComplete || !records.isEmpty || isReported(at: now) else { return nil }
    comparePeers(at: now.wall)
    let open = openRecords(at: now)
    let own = records.map { record in
      var router = record.router
      router.codePort = open[record.name]
      return router
    }
    let isComplete = self.isComplete || isReported(at: now) && !mayComeBack(at: now.wall)
    var sightings = Sightings(own + reported(besides: own, at: now), isComplete: isComplete, lastSeen: lastSeen)
    sightings.reporters = Set(reports.filter { $0.value.isFresh(at: now) }.keys)
    let isYoung = now.steady < begun + Report.longestSilence
    sightings.awaited = isYoung ? nil : Set(reports.keys).subtracting(sightings.reporters)
    return sightings
  }

  /// Whether the daemon's own search has begun, or may be possible again soon: a service restarts.
  private func mayComeBack(at now: WireTime) -> Bool {
    guard let since = obstacleSince else { return true }
    return since <= now && now < since.adding(seconds: 180)
  }

  /// What only logins see, each router once.
  private mutating func reported(besides own: [BorderRouterAdvertisement], at now: ClockMoment)
    -> [BorderRouterAdvertisement]
  {
    let fresh = reports.filter { $0.value.isFresh(at: now) }.sorted { $0.key < $1.key }.flatMap(\.value.list)
    let ids = Set(reports.values.flatMap(\.list).flatMap(Self.ids))
    // Without the others, which anybody can make, there are only so many. A clock that was set back hides nothing.
    lost = lost.filter {
      ids.contains($0.key) && $0.value <= now.wall && now.wall < $0.value.adding(seconds: Self.longestInCaches)
    }
    var known = Set(own.flatMap(Self.ids)).union(lost.keys)
    return fresh.filter { one in
      let ids = Self.ids(one)
      guard known.isDisjoint(with: ids) else { return false }
      known.formUnion(ids)
      return true
    }
  }

  /// By which the same router is known in what others see.
  private static func ids(_ one: BorderRouterAdvertisement) -> [BorderAgentID] {
    [one.agents[0]] + (one.extendedAddress.map { [BorderAgentID(high: $0, low: 0)] } ?? [])
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
    reporter = sightings.list.lazy.compactMap(\.reporter).first?.text
    failure = nil
  }

  /// Takes what a login sees, which is all that it sees.
  ///
  /// - Returns: as `take`.
  mutating func take(_ list: [BorderRouterAdvertisement], of user: ExactName, at now: ClockMoment) -> Int? {
    let list = list.map { one in
      var one = one
      one.reporter = user
      return one
    }
    let before = reports.updateValue(Report(list: list, at: now.steady), forKey: user)
    return before?.list == list && before?.isFresh(at: now) == true ? nil : schedule(at: now.wall)
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
      (obstacle, obstacleSince) = (nil, nil)
      for id in Self.ids(advertisement) { lost[id] = nil }
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
      (obstacle, obstacleSince) = (nil, nil)
      isComplete = true
    case .unavailable(let obstacle):
      // Nothing is known now. That is no sign that the routers have gone.
      records = []
      unusable = [:]
      lost = [:]
      isComplete = false
      (self.obstacle, obstacleSince) = (obstacle, obstacleSince ?? now)
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
    let router = records.remove(at: index).router
    for agent in router.agents { lastSeen[agent] = seen }
    for id in Self.ids(router) { lost[id] = now }
    return schedule(at: now)
  }
}
