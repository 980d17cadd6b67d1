import Broker
import Home
import HomeStore
import KeychainCore
import Settings
import Synchronization
import ThreadDataset

/// All homes and the batch at hand. Belongs to whoever has the loop's lock.
struct LoopState {
  struct Served {
    let settings: ServedHome
    /// The id of its own record.
    let number: Int64
    var home: Home
    /// Those of the settings, and what the loop knows itself.
    var rules: HomeRules
    /// An input of the batch was for it.
    var isTouched = false
    /// Something was received since signs of life were saved.
    var hasSigns = false

    // Mutating, because a list lends an element without a copy only for a change, and to copy a home takes as long as a
    // heartbeat.

    /// - Returns: also what the home has looked at beside what the input names.
    mutating func handle(_ input: HomeInput, at now: WireTime) -> (output: HomeOutput, work: Int) {
      (home.handle(input, at: now, rules: rules), home.work)
    }

    mutating func add(_ notes: [AuditNote], by actor: String?, to lines: inout [RecordChanges.AuditLine]) {
      for note in notes { lines.append(note.line(by: actor, in: settings.name, home)) }
    }
  }

  /// What is collected until the commit.
  struct Batch {
    var outcome: CommittedBatch
    var touched: [Int] = []
    var secrets = SecretMoves()
    /// Records that are written though nothing has changed but when a router was seen.
    var signs: [Int: [RecordKey]] = [:]
    /// Those that are in no home of these.
    var others: [RecordChanges.Record] = []
    var messages: [[UInt8]] = []
    var audit: [RecordChanges.AuditLine] = []
    /// The daemon's own record is written though it says the same.
    var writesNotes = false
    /// What is done when it is on disk.
    var following: [@Sendable () -> Void] = []
    /// Of messages, read and made.
    var bytes = 0
  }

  let store: any RecordStore
  let follower: any LoopFollower
  let committed: CommittedHomes
  let published: Acknowledged

  var homes: [Served]
  /// When something is due in each home; `.min`: that is to be found out, `.max`: nothing is. Apart from the rest,
  /// because all are looked at each second.
  var due: [Int64]
  var reader: MessageReader
  let readRequest: RequestReader
  var batch = Batch(outcome: CommittedBatch(time: WireTime(milliseconds: 0)))

  /// What each login has left of the events that it may publish.
  var limits: TokenBuckets
  var records: LoopRecords
  /// The same after the last commit.
  var saved: LoopRecords
  let notesID: RecordID
  let recentID: RecordID
  /// The last message that the broker is known on disk to have.
  var savedPublished: Int64 = 0
  /// Something was written since the last tick. Then a tick leaves it to the next commit to save what the broker has
  /// acknowledged: it would hold up whoever waits for the loop.
  var hasWritten = false

  var link = Link()
  /// Messages that are still tried alone.
  var trials: Int
  /// The message that this process has noted last: one that comes again is no crash.
  var tried: [UInt8]?
  /// It was handled, so that its note is not needed any more.
  var isTried = false
  var signs: SignsOfLife
  /// Whether the homes have started: not where the store takes nothing.
  var isStarted = false

  init(
    _ loaded: LoadedStore, _ daemon: DaemonRecords, _ settings: [ServedHome], _ committed: CommittedHomes,
    _ published: Acknowledged, _ store: any RecordStore, _ reading: IntakeReading, _ follower: any LoopFollower,
    lastMessage: Int64, at now: WireTime
  ) throws {
    (self.store, self.follower) = (store, follower)
    (self.committed, self.published) = (committed, published)
    homes = zip(settings, loaded.served).map { Served(settings: $0, number: $1.number, home: $1.home, rules: $0.rules) }
    due = Array(repeating: .min, count: homes.count)
    reader = try MessageReader(settings.map(\.base), reading)
    readRequest = reading.request
    var next = loaded.nextRecord
    func new() -> RecordID {
      defer { next += 1 }
      return RecordID(next)
    }
    notesID = daemon.notesID ?? new()
    recentID = daemon.recentID ?? new()
    records = LoopRecords(
      notes: daemon.notes, recent: daemon.recent, sealed: daemon.sealed, sealedIDs: daemon.sealedIDs,
      homeNotes: loaded.newNotes, nextRecord: next, nextMessage: lastMessage + 1)
    saved = records
    limits = TokenBuckets(rate: reading.limits.eventsPerSecond, burst: reading.limits.eventsBurst)
    limits.keep()
    trials = daemon.notes.isRunning ? MessageTrial.messages : 0
    signs = SignsOfLife(since: now)
  }

  mutating func begin(at now: WireTime) { batch = Batch(outcome: CommittedBatch(time: now)) }

  var now: WireTime { batch.outcome.time }

  /// Routers that an event makes a home look at, beside the one that it names, and that cost as much as another event.
  private static let lookedAtOfToken = 16

  /// Lets a home handle an input.
  ///
  /// - Parameters:
  ///   - dataset: that came with it.
  ///   - arrival: the message that it was read from; nil: there is none.
  ///   - actor: who is named in the audit; nil: the user of the message, or the daemon.
  @discardableResult mutating func handle(
    _ input: HomeInput, in place: Int, dataset: [UInt8]? = nil, from arrival: MessageArrival? = nil,
    actor: String? = nil
  ) -> HomeOutput {
    touch(place)
    let (output, work) = homes[place].handle(input, at: now)
    if output.isDuplicate { batch.outcome.duplicates += 1 }
    if work >= Self.lookedAtOfToken, case .message(_, let user) = input {
      limits.charge(user, work: work / Self.lookedAtOfToken)
    }
    // Most messages are signs of life.
    if output.isQuiet, arrival?.mayBeAnswered != true { return output }
    let origin = arrival?.origin(below: homes[place].settings.base)
    if !output.secrets.isEmpty {
      committed.books.withLock { books in
        batch.secrets.take(output.secrets, in: place, dataset: dataset) { books[place][$0] }
      }
    }
    if !output.audit.isEmpty {
      homes[place].add(output.audit, by: actor ?? origin?.user.map { "mqtt user " + $0 }, to: &batch.audit)
    }
    let name = homes[place].settings.name
    var (rejection, router): (Rejection?, BorderAgentID?)
    if let reason = output.rejection {
      rejection = Rejection(reason, home: homes.count > 1 ? name : nil)
      if case .message(let message, _) = input, case .router(let agent) = message.subject { router = agent }
    }
    add(LoopOutcome(home: name, origin: origin, output: output, rejection: rejection, router: router))
    return output
  }

  /// Notes what follows from an input that no home has handled.
  mutating func add(_ outcome: consuming LoopOutcome) {
    if !outcome.output.events.isEmpty || outcome.rejection != nil {
      for message in follower.messages(of: outcome, at: now) {
        batch.bytes += message.count
        batch.messages.append(message)
      }
    }
    batch.outcome.add(outcome)
  }

  private mutating func touch(_ place: Int) {
    guard !homes[place].isTouched else { return }
    homes[place].isTouched = true
    homes[place].hasSigns = true
    due[place] = .min
    batch.touched.append(place)
  }

  /// Records of routers whose signs of life are to be saved.
  mutating func save(_ signs: [SignsOfLife.Sign]) {
    for sign in signs {
      touch(sign.home)
      batch.signs[sign.home, default: []].append(.router(sign.router))
    }
  }
}

// MARK: - The commit

extension LoopState {
  private struct Written {
    var changes = RecordChanges()
    var added: [(home: Int, key: RecordKey, id: RecordID)] = []
    var deleted: [(home: Int, key: RecordKey)] = []
  }

  /// Writes what the batch has changed, and then lets it be seen; or puts everything back as it was.
  ///
  /// - Parameter savesPublished: whether that the broker has taken messages is worth a commit of its own.
  mutating func commit(savesPublished: Bool = false) throws {
    noteNews()
    var written = collect()
    let published = published.upTo.load(ordering: .relaxed)
    if published > savedPublished, savesPublished || !written.changes.isEmpty { written.changes.published = published }
    if !written.changes.isEmpty {
      let began = ContinuousClock.now
      do {
        try store.commit(written.changes)
        batch.outcome.commitTime = began.duration(to: .now)
        batch.outcome.rows = written.changes.records.count + written.changes.messages.count
      } catch {
        undo()
        throw error
      }
      savedPublished = max(savedPublished, written.changes.published)
      hasWritten = true
    }
    batch.outcome.messages = saved.nextMessage..<records.nextMessage
    records.homeNotes = [:]
    saved = records
    limits.keep()
    show(written)
  }

  private mutating func noteNews() {
    guard batch.outcome.outcomes.contains(where: { !$0.output.events.isEmpty }) else { return }
    batch.outcome.news = follower.news(of: batch.outcome) { name in homes.first { $0.settings.name == name }?.home }
    records.recent.add(batch.outcome.news.events(at: now))
  }

  private mutating func collect() -> Written {
    var written = Written()
    written.changes.records = batch.others
    if records.notes != saved.notes || batch.writesNotes {
      written.changes.records.append(.init(id: notesID, home: 0, state: records.notes.record))
    }
    if records.recent != saved.recent {
      written.changes.records.append(.init(id: recentID, home: 0, state: records.recent.record))
    }
    for (id, note) in records.homeNotes.sorted(by: { $0.key < $1.key }) {
      written.changes.records.append(.init(id: id, home: id.rawValue, state: note.record))
    }
    for signer in records.sealed.takeChanges() {
      let id = records.sealedIDs[signer] ?? records.newID()
      records.sealedIDs[signer] = id
      written.changes.records.append(.init(id: id, home: 0, state: records.sealed.record(signer)))
    }
    for place in batch.touched {
      let changes = homes[place].home.takeChanges()
      if !changes.isEmpty { batch.outcome.changes.append((homes[place].settings.name, changes)) }
      var keys = changes.records
      for key in batch.secrets.keys(of: place) { keys.insert(key) }
      for key in batch.signs[place] ?? [] { keys.insert(key) }
      if !keys.isEmpty { collect(keys, of: place, into: &written) }
    }
    for bytes in batch.messages {
      written.changes.messages.append(StoredMessage(id: records.nextMessage, bytes: bytes))
      records.nextMessage += 1
    }
    written.changes.audit = batch.audit
    return written
  }

  private mutating func collect(_ keys: RecordKeys, of place: Int, into written: inout Written) {
    written.changes.records.reserveCapacity(written.changes.records.count + keys.count)
    let (number, home) = (homes[place].number, homes[place].home)
    committed.books.withLock { books in
      for key in keys {
        let state = home.record(key)
        let id: RecordID
        if let known = books[place][key] {
          id = known
          if state == nil { written.deleted.append((place, key)) }
        } else {
          // It came and went within the batch.
          guard state != nil else { continue }
          id = records.newID()
          written.added.append((place, key, id))
        }
        written.changes.records.append(
          .init(
            id: id, home: number, state: state,
            secret: state == nil ? .none : batch.secrets.secret(of: key, in: place, id)))
      }
    }
  }

  /// The batch has not happened: what came is to come again, and costs its login nothing.
  private mutating func undo() {
    records = saved
    limits.putBack()
    committed.list.withLock { list in
      for place in batch.touched {
        homes[place].home = list[place]
        homes[place].isTouched = false
        due[place] = .min
      }
    }
    begin(at: now)
  }

  private mutating func show(_ written: Written) {
    if !written.added.isEmpty || !written.deleted.isEmpty {
      committed.books.withLock { books in
        for (home, key, id) in written.added { books[home][key] = id }
        for (home, key) in written.deleted { books[home][key] = nil }
      }
    }
    committed.list.withLock { list in
      for place in batch.touched {
        list[place] = homes[place].home
        homes[place].isTouched = false
      }
    }
    committed.recentEvents.withLock { $0 = records.recent }
    let (outcome, following) = (batch.outcome, batch.following)
    begin(at: now)
    if !outcome.isEmpty { follower.committed(outcome, committed) }
    for follow in following { follow() }
  }
}

/// What the loop keeps beside the homes, and a commit makes lasting. Where it fails, the whole value is put back.
struct LoopRecords {
  var notes: DaemonNotes
  var recent: RecentEvents
  /// Which sealed requests have come.
  var sealed: SealedRequests
  var sealedIDs: [Hash128: RecordID]
  /// The notes of homes that are to be written with the next commit.
  var homeNotes: [RecordID: HomeNote]
  var nextRecord: Int64
  var nextMessage: Int64

  mutating func newID() -> RecordID {
    defer { nextRecord += 1 }
    return RecordID(nextRecord)
  }
}

/// Up to which message the broker has acknowledged all, as its connection finds out.
final class Acknowledged: Sendable { let upTo = Atomic<Int64>(0) }
