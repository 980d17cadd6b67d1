// SPDX-License-Identifier: Apache-2.0

import Home
import KeychainCore

/// All homes as they were written, and which record each thing in them has.
package struct LoadedStore {
  package struct Loaded {
    package let number: Int64
    package fileprivate(set) var note: HomeNote?
    package fileprivate(set) var home = Home(rules: HomeRules { .random(in: .min ... .max) })
    package fileprivate(set) var book: [RecordKey: RecordID] = [:]
    /// How many records cannot be read.
    package fileprivate(set) var damaged = 0
    /// Which of its own those are.
    package fileprivate(set) var damagedRecords: [RecordID] = []
    /// Older records of things that were written again while these could not be read.
    package fileprivate(set) var replacedRecords: [RecordID] = []
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
    var highest: Int64 = 0
    var daemonRecords: [StoredRecord] = []
    let damaged = try store.load { record in
      highest = max(highest, record.id.rawValue)
      if record.home == 0 {
        daemonRecords.append(record)
      } else {
        found[record.home, default: Loaded(number: record.home)].load(record)
      }
    }
    for record in damaged {
      highest = max(highest, record.id.rawValue)
      if record.home == 0 {
        damagedDaemonRecords.append(record.id)
      } else {
        found[record.home, default: Loaded(number: record.home)]
          .lose(record.id, hasSecret: record.hasSecret)
      }
    }
    self.daemonRecords = daemonRecords
    nextRecord = highest + 1

    var named: [ExactName: Loaded] = [:]
    var unnamed: [Loaded] = []
    for var home in found.values.sorted(by: { $0.number < $1.number }) {
      home.finish()
      if let note = home.note { named[ExactName(note.name)] = home } else { unnamed.append(home) }
    }
    // What a damaged record has called a home is known where only one can be meant.
    let isOnlyOne =
      unnamed.count == 1 && settings.count { named[ExactName($0.name)] == nil } == 1
    // Otherwise each new home may be one of them, until it has a preferred network.
    let lost = isOnlyOne ? 0 : unnamed.reduce(0) { $0 + max(1, $1.damaged) }
    for home in settings {
      if var loaded = named.removeValue(forKey: ExactName(home.name)) {
        // It comes back to the settings, or a program without a daemon has made it.
        if loaded.note?.base.isEmpty == true, !home.base.isEmpty {
          loaded.note?.base = home.base
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
      if let older = book.updateValue(record.id, forKey: try home.load(record.state)) {
        replacedRecords.append(older)
      }
    } catch {
      lose(record.id, hasSecret: record.hasSecret)
    }
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
    home.hasDamage = damaged > 0
    home.finishLoading()
  }
}

extension RecordStore {
  /// The number of the last message that waits; 0: none does.
  package func lastMessage() throws -> Int64 {
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
