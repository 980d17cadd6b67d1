// SPDX-License-Identifier: Apache-2.0

import Home
import KeychainCore

/// All homes as they were written, and which record each thing in them has.
struct LoadedStore {
  struct Loaded {
    let number: Int64
    var note: HomeNote?
    var home = Home(rules: HomeRules { .random(in: .min ... .max) })
    var book: [RecordKey: RecordID] = [:]
    /// Records that cannot be read.
    var damaged = 0
  }

  /// In the order of the settings.
  private(set) var served: [Loaded] = []
  /// Those that the settings do not name.
  private(set) var former: [Loaded] = []
  private(set) var notes = DaemonNotes()
  private(set) var notesID: RecordID
  private(set) var sealed = SealedRequests()
  private(set) var sealedIDs: [Hash128: RecordID] = [:]
  /// Of homes that are new.
  private(set) var newNotes: [RecordID: HomeNote] = [:]
  private(set) var nextRecord: Int64
  /// Whether what the daemon remembers of itself cannot be read.
  private(set) var hasLostNotes = false

  init(_ settings: [ServedHome], _ store: any RecordStore) throws {
    var found: [Int64: Loaded] = [:]
    var highest: Int64 = 0
    var foundNotes: RecordID?
    var read = DaemonNotes()
    var requests = SealedRequests()
    var requestIDs: [Hash128: RecordID] = [:]
    var isLost = false
    let damaged = try store.load { record in
      highest = max(highest, record.id.rawValue)
      if record.home == 0 {
        if let notes = DaemonNotes(record.state) {
          (foundNotes, read) = (record.id, notes)
        } else if let signer = requests.load(record.state) {
          requestIDs[signer] = record.id
        } else {
          isLost = true
        }
      } else {
        found[record.home, default: Loaded(number: record.home)].load(record)
      }
    }
    for record in damaged {
      highest = max(highest, record.id.rawValue)
      if record.home == 0 { isLost = true }
      found[record.home]?.damaged += 1
    }
    (notes, sealed, sealedIDs, hasLostNotes) = (read, requests, requestIDs, isLost)
    notesID = foundNotes ?? RecordID(highest + 1)
    nextRecord = max(highest, notesID.rawValue) + 1

    var named: [ExactName: Loaded] = [:]
    var unnamed: [Loaded] = []
    for var home in found.values.sorted(by: { $0.number < $1.number }) {
      home.finish()
      if let note = home.note { named[ExactName(note.name)] = home } else { unnamed.append(home) }
    }
    // What a damaged record has called a home is known where only one can be meant.
    let isOnlyOne =
      unnamed.count == 1 && settings.count { named[ExactName($0.name)] == nil } == 1
    for home in settings {
      if let loaded = named.removeValue(forKey: ExactName(home.name)) {
        served.append(loaded)
        continue
      }
      let note = HomeNote(name: home.name, base: home.base)
      var new = isOnlyOne ? unnamed.removeFirst() : Loaded(number: nextRecord)
      if new.number == nextRecord { nextRecord += 1 }
      new.note = note
      newNotes[RecordID(new.number)] = note
      served.append(new)
    }
    former = named.values.sorted { $0.number < $1.number }
  }
}

extension LoadedStore {
  /// How many records of each served home cannot be read. Those of the daemon itself count for the first one.
  var damaged: [Int] {
    served.enumerated().map { $1.damaged + ($0 == 0 && hasLostNotes ? 1 : 0) }
  }

  /// Base topics that a home has no more, also because the settings name it no more.
  func retiredBases(_ settings: [ServedHome]) -> [HomeLoop.HomeBase] {
    let current = Dictionary(
      settings.map { (ExactName($0.name), ExactName($0.base)) }, uniquingKeysWith: { $1 })
    return (served + former).compactMap(\.note).compactMap { note in
      guard !note.base.isEmpty, current[ExactName(note.name)] != ExactName(note.base) else {
        return nil
      }
      return HomeLoop.HomeBase(home: note.name, base: note.base)
    }
  }
}

extension LoadedStore.Loaded {
  fileprivate mutating func load(_ record: StoredRecord) {
    if HomeNote.isOne(record.state) {
      note = HomeNote(record.state)
      if note == nil { damaged += 1 }
      return
    }
    do throws(RecordError) {
      book[try home.load(record.state)] = record.id
    } catch {
      damaged += 1
    }
  }

  fileprivate mutating func finish() {
    home.hasDamage = damaged > 0
    home.finishLoading()
  }
}

extension RecordStore {
  /// The number of the last message that waits; 0: none does.
  func lastMessage() throws -> Int64 {
    // Ids ascend: halves what is left each time, and reads one message for it.
    var (low, high): (Int64, Int64) = (0, .max)
    while low < high {
      let middle = low + (high - low) / 2
      if let message = try messages(after: middle, limit: 1).first {
        low = message.id
      } else {
        high = middle
      }
    }
    return low
  }
}
