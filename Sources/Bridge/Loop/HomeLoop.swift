import Broker
import Home
import HomeStore
import KeychainCore
import SodiumCrypto
import Synchronization
import ThreadDataset

/// The single writer of all homes of a daemon.
///
/// What comes in (messages of the broker, calls, sightings, the clock) is handled by the thread that brings it, one
/// after the other: a lock is the mailbox. A batch changes the homes in memory, is written by one commit, and is seen
/// by others and followed only then. Where the commit fails, the homes are put back, and the same messages may come
/// again.
package final class HomeLoop: Sendable {
  /// Of messages that are handled before a commit. Calls wait for as long at most.
  static let batchTime = Duration.milliseconds(250)
  /// Bytes of messages, read and made, before a commit.
  static let batchBytes = 4 << 20

  private let state: Mutex<LoopState>
  /// As they are on disk.
  package let homes: CommittedHomes
  /// The broker has acknowledged all messages up to this one.
  private let published: Acknowledged
  private let follower: any LoopFollower
  private let clock: @Sendable () -> WireTime
  /// The time that its homes get with each input.
  package var now: WireTime { clock() }
  /// Base topics that a home has no more, by the home's name.
  package let retiredBases: [HomeBase]
  /// Below which devices are announced to Home Assistant.
  private let devicePrefix: ExactName?
  /// Prefixes of before.
  package let retiredPrefixes: [String]

  package struct HomeBase: Hashable, Sendable {
    package let home: String
    package let base: String
  }

  /// Reads all homes, and lets each decide what follows from the settings.
  ///
  /// - Parameters:
  ///   - homes: in the order of the settings: the first one carries what concerns the daemon as a whole.
  ///   - discovers: whether routers are looked for on the local network, which belongs to the first home.
  ///   - devicePrefix: Home Assistant's discovery prefix; nil: no devices are announced.
  ///   - consent: that Home Assistant decides about everything, where it does.
  ///   - hasRecoveryCode: whether one opens the store; nil where none can.
  ///   - isWritable: whether the store takes anything. Where it does not, nothing follows from the settings: it is
  ///     shown as it is.
  /// - Throws: where the store cannot be read or written.
  package init(
    _ homes: [ServedHome], discovers: Bool, devicePrefix: String? = nil, consent: AlertFacts? = nil,
    hasRecoveryCode: Bool? = nil, isWritable: Bool = true, store: any RecordStore, reading: IntakeReading,
    follower: any LoopFollower, clock: @escaping @Sendable () -> WireTime
  ) throws {
    let loaded = try LoadedStore(homes, store)
    self.follower = follower
    self.clock = clock
    retiredBases = loaded.retiredBases(homes)
    let now = clock()
    let daemon = DaemonRecords(loaded)
    let committed = CommittedHomes(homes, loaded, daemon.recent, store)
    published = Acknowledged()
    var first = try LoopState(
      loaded, daemon, homes, committed, published, store, reading, follower, lastMessage: try store.lastMessage(),
      at: now)
    self.homes = committed
    first.begin(at: now)
    self.devicePrefix = devicePrefix.map { ExactName($0) }
    retiredPrefixes = first.announceDevices(below: self.devicePrefix).map(\.text)
    if isWritable { try first.start(loaded, discovers: discovers, consent: consent, hasRecoveryCode: hasRecoveryCode) }
    state = Mutex(first)
  }

  private func handle<R>(_ body: (inout LoopState) throws -> R) rethrows -> R {
    follower.willHandle()
    defer { follower.hasHandled() }
    return try state.withLock { state in
      state.begin(at: clock())
      return try body(&state)
    }
  }

  /// Handles one input, and returns when it is on disk.
  ///
  /// - Parameters:
  ///   - dataset: that belongs to the input.
  ///   - actor: who is named in the audit; nil: the daemon.
  /// - Throws: `UnknownHome`; what the store throws: then nothing has changed.
  @discardableResult package func perform(
    _ input: HomeInput, in home: String, dataset: OperationalDataset? = nil, actor: String? = nil
  ) throws -> HomeOutput {
    guard let place = homes.places[home] else { throw UnknownHome(name: home) }
    return try handle { state in
      let output = state.handle(input, in: place, dataset: dataset?.bytes, actor: actor)
      try state.commit()
      return output
    }
  }

  /// Handles several inputs by one commit: they are on disk when it returns, or none of them is.
  ///
  /// - Throws: as for one.
  package func perform(_ inputs: [(home: String, input: HomeInput)]) throws {
    let placed = try inputs.map { home, input in
      guard let place = homes.places[home] else { throw UnknownHome(name: home) }
      return (place: place, input: input)
    }
    try handle { state in
      for one in placed { state.handle(one.input, in: one.place) }
      try state.commit()
    }
  }

  /// A person gives up what cannot be read: records whose state cannot are deleted, credentials that cannot are missing
  /// from then on, and a home whose name is lost gets another one.
  ///
  /// - Parameters:
  ///   - home: also one that the settings name no more; nil: all, and what is of none.
  ///   - actor: who is named in the audit.
  /// - Returns: what it was, and how much else cannot be read.
  /// - Throws: `UnknownHome`; what the store throws: then nothing has changed.
  package func forgetDamage(of home: String?, actor: String?) throws -> (forgotten: [DamagedThing], remaining: Int) {
    try handle { try $0.forgetDamage(of: home, actor) }
  }

  // MARK: Messages

  /// Messages in the order of their arrival. They are on disk when it returns.
  ///
  /// - Throws: what the store throws. The messages that are not on disk have changed nothing; all may come again.
  package func received(_ batch: [IncomingMessage]) throws {
    defer { wipeDeadStack() }
    var first = 0
    while first < batch.count { try handle { state in first = try state.receive(batch, from: first) } }
  }

  /// The most messages that should come at once. After a process that did not end as it should it is one: what is
  /// acknowledged does not come again, so the message that has ended it comes to be the first one.
  package var batchLimit: Int { state.withLock { $0.trials > 0 ? 1 : MessageTrial.messages } }

  /// The connection that listens was made. Whether the broker has kept its session is an alert of the first home.
  package func connected(isSessionPresent: Bool) throws {
    try handle { state in
      guard !state.homes.isEmpty else { return }
      let isLost = state.records.notes.hasSession && !isSessionPresent
      state.records.notes.hasSession = true
      state.handle(.condition(.sessionLost, isLost ? .sessionLost : nil), in: 0)
      try state.commit()
    }
  }

  /// Writes something, which shows whether a store that has failed works again.
  package func probe() throws {
    try handle { state in
      state.batch.writesNotes = true
      try state.commit()
    }
  }

  /// What the broker counts as dropped.
  ///
  /// - Returns: whether there are more than at the last time, also by an earlier process.
  package func noteDropped(_ count: Int64) throws -> Bool {
    try handle { state in
      let before = state.records.notes.dropped
      state.records.notes.dropped = count
      try state.commit()
      return before.map { count > $0 } ?? false
    }
  }

  /// The broker has acknowledged all stored messages up to this one. They are deleted with the next commit, or by
  /// the second tick after it.
  package func acknowledged(upTo message: Int64) { published.upTo.max(message, ordering: .relaxed) }

  /// What routers advertise on the local network, which belongs to the first home.
  package func see(_ sightings: Sightings) throws {
    try handle { state in
      state.see(sightings)
      try state.commit()
    }
  }

  // MARK: Time

  /// Lets time pass: to be called each second, at rest when something is due. Homes in which nothing is due cost nothing.
  package func tick(_ link: Link) throws {
    var next: Int? = 0
    while let first = next { next = try handle { state in return try state.tick(link, from: first) } }
  }

  /// When something is due in a home, as far as the last tick knows; nil: nothing is.
  var nextDue: WireTime? {
    let due = state.withLock { state in state.due.min { ($0 == .min ? .max : $0) < ($1 == .min ? .max : $1) } }
    guard let due, due != .min, due != .max else { return nil }
    return WireTime(milliseconds: due)
  }

  /// The clock was set by so many milliseconds, or the machine slept.
  package func clockJumped(by jump: Int64) throws {
    try handle { state in
      for place in state.homes.indices { state.handle(.clockJumped(by: jump), in: place) }
      try state.commit()
    }
  }

  /// The broker holds nothing any more below the base topics and prefixes that were given up.
  package func basesAreEmpty() throws {
    try handle { state in
      for home in state.homes {
        state.records.homeNotes[RecordID(home.number)] = HomeNote(name: home.settings.name, base: home.settings.base)
      }
      for home in homes.former.withLock({ $0 }) {
        guard var note = home.note else { continue }
        note.base = ""
        state.records.homeNotes[RecordID(home.number)] = note
      }
      state.records.notes.prefixes = devicePrefix.map { [$0] } ?? []
      try state.commit()
    }
  }

  /// The daemon ends as it should.
  package func stop() throws { try handle { state in try state.stop() } }
}

extension LoadedStore {
  /// Base topics that a home has no more, also because the settings name it no more.
  fileprivate func retiredBases(_ settings: [ServedHome]) -> [HomeLoop.HomeBase] {
    let current = Dictionary(settings.map { (ExactName($0.name), ExactName($0.base)) }, uniquingKeysWith: { $1 })
    return (served + former).compactMap(\.note).compactMap { note in
      guard !note.base.isEmpty, current[ExactName(note.name)] != ExactName(note.base) else { return nil }
      return HomeLoop.HomeBase(home: note.name, base: note.base)
    }
  }
}
