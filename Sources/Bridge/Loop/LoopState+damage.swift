import Home
import HomeStore
import KeychainCore
import Synchronization

/// Records that cannot be read, until a person gives them up.
extension LoopState {
  /// Brings the homes in line with what of them cannot be read.
  mutating func noteDamage(_ loaded: LoadedStore) {
    let ofDaemon = DaemonRecords(loaded).damaged.count
    let alert = AlertKey(.storeDamaged)
    for (place, found) in loaded.served.enumerated() {
      // Those of the daemon itself count for the first home.
      let count = found.damaged + (place == 0 ? ofDaemon : 0)
      let home = homes[place].home
      guard count > 0 || home.hasDamage || home.alerts[alert] != nil else { continue }
      homes[place].home.hasDamage = found.home.hasDamage
      homes[place].home.hasLostCredentials = found.home.hasLostCredentials
      // What is of no home, or of one whose name is lost, is given up with all of it.
      let isOwn = homes.count > 1 && count == found.damagedRecords.count
      let name = isOwn ? homes[place].settings.name : nil
      let facts = count > 0 ? AlertFacts.storeDamaged(records: count, home: name) : nil
      handle(.condition(.storeDamaged, facts), in: place)
    }
  }

  /// See `HomeLoop.forgetDamage`. What is on disk counts, which may be worse than at the start.
  mutating func forgetDamage(of name: String?, _ actor: String?) throws -> (forgotten: [DamagedThing], remaining: Int) {
    let settings = homes.map(\.settings)
    let loaded = try LoadedStore(settings, store)
    if let name, !(loaded.served + loaded.former).contains(where: { $0.name == name }) { throw UnknownHome(name: name) }
    let all = loaded.damage(try store.unreadable(), daemon: DaemonRecords(loaded).damaged)
    let forgotten = all.filter { name == nil || $0.home == name }
    for thing in forgotten {
      let place = thing.home.map { "home \($0)" } ?? "the daemon"
      batch.audit.append(.init(actor: actor, .deleted, "damaged record \(thing.id.rawValue) of \(place)"))
      forget(thing, loaded, actor)
    }
    for home in loaded.former where home.note == nil && (name == nil || home.name == name) {
      guard !home.book.isEmpty, !homes.contains(where: { $0.number == home.number }) else { continue }
      let note = HomeNote(name: home.name, base: "")
      batch.others.append(.init(id: RecordID(home.number), home: home.number, state: note.record))
    }
    try commit()
    let rest = try LoadedStore(settings, store)
    committed.former.withLock { $0 = rest.former }
    committed.unreadableRecords.withLock { $0 = rest.unreadable }
    noteDamage(rest)
    try commit()
    return (forgotten, all.count - forgotten.count)
  }

  /// What is in memory is written again, without the secret; the rest is deleted.
  private mutating func forget(_ thing: DamagedThing, _ loaded: LoadedStore, _ actor: String?) {
    let id = thing.id
    var row = RecordChanges.Record(id: id, home: thing.number, state: nil, secret: .none)
    if let place = homes.firstIndex(where: { $0.number == thing.number }) {
      let book = committed.books.withLock { $0[place] }
      if let key = book.first(where: { $0.value == id })?.key {
        handle(.secretLost(key), in: place, actor: actor)
        return
      }
      if id.rawValue == thing.number {
        let home = homes[place].settings
        row.state = HomeNote(name: home.name, base: home.base).record
      }
    } else if let former = loaded.former.first(where: { $0.number == thing.number }) {
      // It gets another name.
      if id.rawValue == thing.number, !former.book.isEmpty { return }
      if let key = thing.key {
        var home = former.home
        _ = home.handle(.secretLost(key), at: now, rules: HomeRules())
        row.state = home.record(key)
      }
    } else if id == notesID {
      batch.writesNotes = true
      return
    } else if let signer = records.sealedIDs.first(where: { $0.value == id })?.key {
      row.state = records.sealed.record(signer)
    }
    batch.others.append(row)
  }
}
