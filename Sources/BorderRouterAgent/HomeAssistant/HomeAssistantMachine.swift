import Broker
import Home
import Logging
import SodiumCrypto
import ThreadDataset

/// What is read and published of Home Assistant's Thread store, decided from one list after the other. Pure: the caller
/// brings the time and does the effects.
///
/// The list has no TLVs, and Home Assistant has no event for a change. It keeps a dataset's id when the TLVs are
/// replaced by newer ones, and the list need not show that. So TLVs are read of what is listed differently, and of
/// everything after `reread`. Of TLVs that were published a keyed hash is kept, never the TLVs.
///
/// | known of an id | what comes | what follows |
/// |---|---|---|
/// | nothing | it is listed | `read`; the preferred one first |
/// | published | it is listed differently, or was read `reread` ago | `read` |
/// | published | it is listed as before | nothing |
/// | published | a question depends on its TLVs | `read` with the next list |
/// | published | neither it nor its network is listed any more | it is forgotten, and `gone` |
/// | any | TLVs, preference or border agent that were not published | `publish` |
/// | published | the same, published `repeat` ago | `publish`, for a daemon that has lost its store |
/// | published | the same, later than that | nothing |
/// | any | TLVs that lack something | `publish`: threadkeeper says what; logged once |
/// | any | TLVs that are no active dataset | nothing; logged once |
/// | published | rejected for what it is, or as one too many | published again after `repeat`, or when it has changed |
/// | published | rejected for another reason, or by the broker | published again after `retry`, or when it has changed |
/// | published | accepted after a rejection | logged |
/// | | border routers that it sees, others than before, or published `sight` ago | `sight`, all that are there |
/// | | one is not seen for the first time | it counts as there: an answer may be lost |
/// | | one has gone, or is not seen twice in a row | it is left out |
/// | any | trouble | logged when it is another one; the next look after 5, 10, 20, 40 and then 60 s |
/// | any | a look without trouble | the end of the trouble is logged |
struct HomeAssistantMachine: Sendable {
  enum Event: Equatable, Sendable {
    case listed([StoredDataset])
    /// The TLVs of an entry; `none`: it was deleted after the list was made.
    case read(StoredDataset, RouterReport.Reading)
    /// The border routers on its local network.
    case sighted(RouterSighting)
    /// All of a look went well.
    case looked
    case troubled(HomeAssistantTrouble)
    /// What has become of what was published of an id, which is its subject.
    case answered(EventOutcome)
    /// What is known of this network decides whether a person is asked.
    case doubted(ExtendedPANID)
  }

  enum Effect: Equatable, Sendable {
    case read(StoredDataset)
    case publish(SharedDataset)
    /// Its store does not have the network any more.
    case gone(ExtendedPANID)
    case sight([SightedRouter])
    case log(RouterNote)
  }

  enum Pause {
    static let reread = Duration.seconds(600)
    static let `repeat` = Duration.seconds(3_600)
    static let retry = Duration.seconds(300)
    static let sight = Duration.seconds(50)
    static let trouble = (shortest: Duration.seconds(5), longest: Duration.seconds(60))
  }

  private struct Known {
    var entry: StoredDataset
    var readAt: Duration
    /// Of the TLVs, preference and border agent that were published; nil: nothing was.
    var digest: [UInt8]?
    /// When the same is published again.
    var due = Duration.zero
    /// Seconds of the Active Timestamp; nil: the TLVs are of no use.
    var timestamp: UInt64?
    /// What was logged last.
    var flaw: String?
    var rejection: String?
  }

  private let key: [UInt8]
  private var known: [String: Known] = [:]
  /// Border routers that are there, and whether the last look has not seen them.
  private var routers: [String: (router: SightedRouter, isMissed: Bool)] = [:]
  private var sighted: (list: [SightedRouter], due: Duration)?
  private var sightingRejection: String?
  private var trouble: HomeAssistantTrouble?
  private var troubles = 0
  /// What is there, once all of it was read.
  private(set) var store: StoreSummary?

  /// - Parameter key: of the hashes.
  init(key: [UInt8] = RandomBytes.make(32)) { self.key = key }

  /// Until the next look, where that is not the usual time.
  var pause: Duration? { Self.pause(after: troubles) }

  static func pause(after troubles: Int) -> Duration? {
    guard troubles > 0 else { return nil }
    return min(Pause.trouble.shortest * (1 << min(troubles - 1, 8)), Pause.trouble.longest)
  }

  /// Home Assistant is restarted now and then: what passes by itself counts from the fifth look on, after 75 s.
  var standing: AgentStanding? {
    guard let trouble else { return store == nil ? nil : .works }
    return trouble.mayPass && troubles < 5 ? nil : .fails("\(trouble)")
  }

  /// - Parameter now: from any origin, never falling.
  mutating func handle(_ event: Event, at now: Duration) -> [Effect] {
    switch event {
    case .listed(let entries): return listed(entries, at: now)
    case .read(let entry, let reading): return read(entry, reading, at: now)
    case .sighted(let sighting): return sighted(sighting, at: now)
    case .looked:
      store = summary
      defer { (trouble, troubles) = (nil, 0) }
      return trouble == nil ? [] : [.log(RouterNote(.info, "it answers again"))]
    case .troubled(let new):
      troubles += 1
      guard new != trouble else { return [] }
      trouble = new
      return [.log(RouterNote(.warning, "\(new)"))]
    case .answered(let outcome): return answered(outcome, at: now)
    case .doubted(let network):
      for (id, known) in known where known.entry.network == network { self.known[id]?.readAt = now - Pause.reread }
      return []
    }
  }

  private mutating func listed(_ entries: [StoredDataset], at now: Duration) -> [Effect] {
    let (ids, networks) = (Set(entries.map(\.id)), Set(entries.compactMap(\.network)))
    let gone = known.filter { !ids.contains($0.key) }.values.compactMap { $0.digest == nil ? nil : $0.entry.network }
    known = known.filter { ids.contains($0.key) }
    return Set(gone).subtracting(networks).sorted().map { .gone($0) }
      + entries.sorted { $0.isPreferred && !$1.isPreferred }.filter { entry in
        guard let known = known[entry.id] else { return true }
        return known.entry != entry || now - known.readAt >= Pause.reread || known.digest != nil && now >= known.due
      }.map { .read($0) }
  }

  private mutating func sighted(_ sighting: RouterSighting, at now: Duration) -> [Effect] {
    let missed = routers.filter { key, one in
      sighting.routers[key] == nil && !one.isMissed && !sighting.gone.contains(key)
    }
    routers = missed.mapValues { ($0.router, true) }
    for (key, router) in sighting.routers { routers[key] = (router, false) }
    let list = routers.sorted { $0.key < $1.key }.prefix(InboundLimits.routers).map(\.value.router)
    if let sighted, sighted.list == list, now < sighted.due { return [] }
    sighted = (list, now + Pause.sight)
    return [.sight(list)]
  }

  private var summary: StoreSummary {
    var summary = StoreSummary(preferred: known.values.first(where: \.entry.isPreferred)?.entry.network)
    for known in known.values {
      guard let network = known.entry.network else { continue }
      summary.timestamps[network] = known.timestamp
      if known.flaw != nil { summary.unusable.insert(network) }
    }
    return summary
  }

  private mutating func read(_ entry: StoredDataset, _ reading: RouterReport.Reading, at now: Duration) -> [Effect] {
    var new = known[entry.id] ?? Known(entry: entry, readAt: now)
    (new.entry, new.readAt) = (entry, now)
    defer { known[entry.id] = new }
    guard reading != .none else { return [] }
    var effects: [Effect] = []
    if let flaw = reading.flaw, flaw != new.flaw {
      effects.append(
        .log(
          RouterNote(
            .warning,
            "the dataset of \(entry.title) is not right (\(flaw)); add it there again, from a phone or a border router")
        ))
    }
    (new.flaw, new.timestamp) = (reading.flaw, nil)
    guard let dataset = reading.dataset else {
      new.digest = nil
      return effects
    }
    if reading.flaw == nil { new.timestamp = dataset.activeTimestamp?.seconds }
    let shared = SharedDataset(entry, dataset)
    let digest = digest(of: shared)
    let isNews = digest != new.digest
    guard isNews || now >= new.due else { return effects }
    (new.digest, new.due) = (digest, now + Pause.repeat)
    effects.append(.publish(shared))
    let words = "\(entry.title) is published" + (entry.isPreferred ? ", as preferred there" : "")
    if isNews { effects.append(.log(RouterNote(.info, words))) }
    return effects
  }

  /// Whether threadkeeper knows just that.
  func hasPublished(_ shared: SharedDataset) -> Bool { known[shared.id]?.digest == digest(of: shared) }

  private func digest(of shared: SharedDataset) -> [UInt8] {
    var message = shared.dataset.bytes
    defer { wipe(&message) }
    message += [0, shared.isPreferred ? 1 : 0] + (shared.borderAgent?.bytes ?? [])
    // The lengths are right, so it does not fail; where it did, everything would be news.
    return key.withUnsafeBytes { key in (try? BLAKE2b.hash(message, key: key, count: 32)) ?? [] }
  }

  private mutating func answered(_ outcome: EventOutcome, at now: Duration) -> [Effect] {
    if outcome.kind == .sightings {
      guard outcome.code != sightingRejection else { return [] }
      sightingRejection = outcome.code
      return outcome.code.map {
        [.log(RouterNote(.warning, "the border routers that it sees are rejected (\($0)): \(outcome.message)"))]
      } ?? []
    }
    guard let id = outcome.subject, let old = known[id] else { return [] }
    // What the dataset is, or that there are too many, an hour changes nothing about.
    let isLasting = outcome.field == "dataset" || outcome.code == Rejection.Code.tooManyNetworks.rawValue
    if outcome.code != nil, !isLasting { known[id]?.due = now + Pause.retry }
    guard outcome.code != old.rejection else { return [] }
    known[id]?.rejection = outcome.code
    guard let code = outcome.code else {
      return [.log(RouterNote(.info, "threadkeeper accepts \(old.entry.title) now"))]
    }
    let who = code == EventOutcome.refused ? "the broker" : "threadkeeper"
    return [.log(RouterNote(.warning, "\(who) has rejected \(old.entry.title) (\(code)): \(outcome.message)"))]
  }
}

extension RouterReport.Reading {
  /// What is published of it.
  var dataset: OperationalDataset? {
    switch self {
    case .none, .unusable: nil
    case .partial(let dataset), .complete(let dataset): dataset
    }
  }
}

/// A dataset as it is published: what Home Assistant has of a network.
struct SharedDataset: Equatable, Sendable {
  /// Of the entry there.
  var id: String
  /// Active; it may lack something.
  var dataset: OperationalDataset
  var borderAgent: BorderAgentID?
  var isPreferred: Bool

  init(_ entry: StoredDataset, _ dataset: OperationalDataset) {
    id = entry.id
    self.dataset = dataset
    borderAgent = entry.borderAgent
    isPreferred = entry.isPreferred
  }
}

/// What Home Assistant has, as far as it is compared with the home.
struct StoreSummary: Equatable, Sendable {
  var preferred: ExtendedPANID?
  /// Seconds of the Active Timestamps, of those that can be used.
  var timestamps: [ExtendedPANID: UInt64] = [:]
  /// Networks whose dataset there can't be used.
  var unusable: Set<ExtendedPANID> = []
}
