import Home
import KeychainCore

/// All homes as they were written, and which record each thing in them has.
package struct LoadedStore {
  package struct Loaded {
    package let number: Int64
    /// Nil where it is lost.
    package fileprivate(set) var note: HomeNote?
    package fileprivate(set) var home = Home(rules: HomeRules())
    package fileprivate(set) var book: [RecordKey: RecordID] = [:]
    /// How many records cannot be read.
    package fileprivate(set) var damaged = 0
    /// Which of its own those are.
    package fileprivate(set) var damagedRecords: [RecordID] = []
    /// Older records of things that were written again while these could not be read.
    package fileprivate(set) var replacedRecords: [RecordID] = []

    /// As the settings call it. One whose name is lost is called so from when that is given up.
    package var name: String { note?.name ?? Self.lostName(number) }

    fileprivate static func lostName(_ number: Int64) -> String { "lost-\(number)" }
  }

  /// In the order of the settings.
  package private(set) var served: [Loaded] = []
  /// Those that the settings do not name, or whose name is lost.
  package private(set) var former: [Loaded] = []
  /// Those of no home: what a daemon remembers of itself.
  package private(set) var daemonRecords: [StoredRecord] = []
  /// Those of them that do not open.
  package private(set) var damagedDaemonRecords: [RecordID] = []
  /// Of homes that are new, or have a base topic again.
  package private(set) var newNotes: [RecordID: HomeNote] = [:]
  /// The number of the next new record.
  package private(set) var nextRecord: Int64

  package init(_ settings: [ServedHome], _ store: some RecordAccess) throws {
    var found: [Int64: Loaded] = [:]
    var highest: RowNumber?
    func note(_ id: RecordID) {
      guard let number = RowNumber(stored: id.rawValue) else { return }
      if number.rawValue > highest?.rawValue ?? 0 { highest = number }
    }
    var daemonRecords: [StoredRecord] = []
    let damaged = try store.load { record in
      note(record.id)
      if record.home == 0 {
        daemonRecords.append(record)
      } else {
        found[record.home, default: Loaded(number: record.home)].load(record)
      }
    }
    for record in damaged {
      note(record.id)
      if record.home == 0 {
        damagedDaemonRecords.append(record.id)
      } else {
        found[record.home, default: Loaded(number: record.home)].lose(record.id, hasSecret: record.hasSecret)
      }
    }
    self.daemonRecords = daemonRecords
    nextRecord = highest?.next ?? 1

    var named: [ExactName: Loaded] = [:]
    var unnamed: [Loaded] = []
    for var home in found.values.sorted(by: { $0.number < $1.number }) {
      home.finish()
      // A person may put one whose name is lost into the settings as it is shown.
      if home.note != nil || settings.contains(where: { $0.name == home.name }) {
        named[ExactName(home.name)] = home
      } else {
        unnamed.append(home)
      }
    }
    // What a damaged record has called a home is known where only one can be meant.
    let isOnlyOne = unnamed.count == 1 && settings.count { named[ExactName($0.name)] == nil } == 1
    // Otherwise each new home may be one of them, until it has a preferred network.
    let lost = isOnlyOne ? 0 : unnamed.reduce(0) { $0 + max(1, $1.damaged) }
    for home in settings {
      if var loaded = named.removeValue(forKey: ExactName(home.name)) {
        // It comes back to the settings, or a program without a daemon has made it.
        if loaded.note == nil || loaded.note?.base.isEmpty == true && !home.base.isEmpty {
          loaded.note = HomeNote(name: home.name, base: home.base)
          newNotes[RecordID(loaded.number)] = loaded.note
        }
        loaded.mayBeLost(lost)
        served.append(loaded)
        continue
      }
      let note = HomeNote(name: home.name, base: home.base)
      var new = isOnlyOne ? unnamed.removeFirst() : Loaded(number: nextRecord)
      if new.number == nextRecord { nextRecord += 1 }
      new.mayBeLost(lost)
      new.note = note
      newNotes[RecordID(new.number)] = note
      served.append(new)
    }
    former = (named.values + unnamed).sorted { $0.number < $1.number }
  }
}

extension LoadedStore.Loaded {
  fileprivate mutating func load(_ record: StoredRecord) {
    if HomeNote.isOne(record.state) {
      note = HomeNote(record.state)
      if note == nil { lose(record.id, hasSecret: false) }
      return
    }
    do throws(RecordError) {
      if let older = book.updateValue(record.id, forKey: try home.load(record.state)) { replacedRecords.append(older) }
    } catch { lose(record.id, hasSecret: record.hasSecret) }
  }

  fileprivate mutating func lose(_ record: RecordID, hasSecret: Bool) {
    damaged += 1
    damagedRecords.append(record)
    if hasSecret { home.hasLostCredentials = true }
  }

  /// Records of homes whose names are lost may be its own.
  fileprivate mutating func mayBeLost(_ records: Int) {
    guard records > 0, home.preferred == nil, !home.isPreferredForgotten else { return }
    damaged += records
    home.hasDamage = true
    home.hasLostCredentials = true
  }

  fileprivate mutating func finish() {
    home.hasDamage = damaged > 0 || note == nil
    home.finishLoading()
  }
}

/// A record that cannot be read, or of which the secret cannot.
package struct DamagedThing: Hashable, Sendable {
  package let id: RecordID
  /// The number of its home; 0: it is of no home.
  package let number: Int64
  package let home: String?
  /// What it is, where its state can be read.
  package let key: RecordKey?
}

extension LoadedStore {
  /// By home, how many records cannot be read, so that lists may be incomplete. Not that of a name that is known.
  package var unreadable: [String: Int] {
    (served + former).reduce(into: [:]) { counts, home in
      let count = home.damagedRecords.count { home.note == nil || $0.rawValue != home.number }
      if count > 0 { counts[home.name, default: 0] += count }
    }
  }

  /// All that cannot be read, in the order of the records.
  ///
  /// - Parameters:
  ///   - closed: records of which the state or the secret does not open.
  ///   - daemon: records of no home in which nothing is found.
  package func damage(_ closed: [DamagedRecord], daemon: [RecordID] = []) -> [DamagedThing] {
    let homes = Dictionary((served + former).map { ($0.number, $0) }, uniquingKeysWith: { first, _ in first })
    var places: [RecordID: Int64] = [:]
    for id in daemon { places[id] = 0 }
    for home in homes.values { for id in home.damagedRecords { places[id] = home.number } }
    for record in closed { places[record.id] = record.home }
    return places.sorted { $0.key < $1.key }.map { id, number in
      DamagedThing(
        id: id, number: number, home: number == 0 ? nil : homes[number]?.name ?? Loaded.lostName(number),
        key: homes[number]?.book.first { $0.value == id }?.key)
    }
  }
}

extension RecordStore {
  /// The ids of the messages that wait; empty, and beginning with the next id, where none does.
  package func storedMessages() throws -> Range<Int64> {
    let last = try lastMessage()
    let first = try messages(after: 0, limit: 1).first?.id ?? last + 1
    return first..<last + 1
  }

  /// The number of the last message that waits; 0: none does.
  package func lastMessage() throws -> Int64 {
    // Ids ascend: halves what is left each time, and reads one message for it.
    var (low, high) = (0 as Int64, RowNumber.all.upperBound)
    while low < high {
      let middle = low + (high - low) / 2
      if let message = try messages(after: middle, limit: 1).first { low = message.id } else { high = middle }
    }
    return low
  }
}

/// All homes as they are on disk after a commit. Whoever reads keeps it for as long as it likes: the loop goes on with
/// copies.
package struct HomeSnapshot: Sendable {
  /// By their names in the settings.
  package var homes: [String: Home]

  package init(homes: [String: Home] = [:]) { self.homes = homes }
}

extension HomeSnapshot {
  /// All homes of a store that no daemon has. Nothing is written.
  package static func read(_ records: some RecordAccess) throws -> HomeSnapshot {
    let homes = try LoadedStore([], records).former.map { ($0.name, $0.home) }
    return HomeSnapshot(homes: Dictionary(homes, uniquingKeysWith: { $1 }))
  }
}
