import ThreadDataset

/// A router as it is in the table. Immutable, so that snapshots can be read by other threads, and passed on by reference:
/// a router is large, and mostly a field of it is asked for.
@dynamicMemberLookup final class StoredRouter: Sendable {
  let value: Router

  init(_ router: consuming Router) { value = router }

  subscript<Field>(dynamicMember path: KeyPath<Router, Field>) -> Field { value[keyPath: path] }

  /// Only a method of the object passes the router on without a copy.
  func lend<R>(_ seen: WireTime, to body: (borrowing Router, WireTime) -> R) -> R { body(value, seen) }
}

/// The routers of a home, in the order in which they came; the place of one that went is taken by the next one.
///
/// A copy of the table costs nothing until one of the two changes, so a reader keeps a snapshot while the home goes on.
/// The first change then copies what it changes, never the routers: a page of 32 references, and the two lists that
/// lead to it; a part of the index, where a router comes or goes; the counts that change with it. When a router was
/// seen last stands beside it, so that a sign of life copies no router.
package struct RouterTable: Sendable {
  private struct Slot {
    let stored: StoredRouter?
    let waits: Waits
    var seen: WireTime

    init(_ stored: StoredRouter?, seen: WireTime) {
      (self.stored, self.seen) = (stored, seen)
      waits = stored.map { Waits($0.value) } ?? []
    }
  }

  /// What of a router depends on the clock, beside the reference, so that a tick touches no router that waits for
  /// nothing. It follows from the router alone.
  private struct Waits: OptionSet {
    /// Its silence means something.
    static let silence = Waits(rawValue: 1)
    /// Its adoption, the end of what was read of it, or that it is forgotten: what `Home.nextDue` looks at.
    static let other = Waits(rawValue: 2)

    let rawValue: UInt8

    init(rawValue: UInt8) { self.rawValue = rawValue }

    init(_ router: borrowing Router) {
      self = router.isPresent && router.isReached && router.beats ? .silence : []
      if router.adoption != nil && router.isPresent || router.hasLeft || router.reading?.endsAt != nil {
        insert(.other)
      }
    }
  }

  /// Slots of a page, and pages of a group.
  private static let most = 32

  /// Changes only when a router comes or goes.
  private var index = RouterIndex()
  private var groups: [[[Slot]]] = []
  private var slots = 0
  private var free: [Int32] = []
  private(set) var counts = RouterCounts()

  package init() {}

  package var count: Int { index.count }

  package var totals: RouterTotals { counts.totals }

  package subscript(agent: BorderAgentID) -> Router? { stored(agent)?.value }

  /// The same without a copy of it.
  func stored(_ agent: BorderAgentID) -> StoredRouter? {
    guard let slot = index[agent] else { return nil }
    return self[slot: Int(slot)].stored
  }

  private subscript(slot slot: Int) -> Slot {
    get { groups[slot / (Self.most * Self.most)][slot / Self.most % Self.most][slot % Self.most] }
    _modify { yield &groups[slot / (Self.most * Self.most)][slot / Self.most % Self.most][slot % Self.most] }
  }

  /// When a router was seen last; the beginning of time for one that is not there.
  package func lastSeen(_ agent: BorderAgentID) -> WireTime {
    index[agent].map { self[slot: Int($0)].seen } ?? WireTime(milliseconds: 0)
  }

  /// Lends a router with when it was seen last, by one look-up.
  @discardableResult package func lend<R>(
    _ agent: BorderAgentID, to body: (_ router: borrowing Router, _ seen: WireTime) -> R
  ) -> R? {
    guard let slot = index[agent].map({ self[slot: Int($0)] }), let stored = slot.stored else { return nil }
    return stored.lend(slot.seen, to: body)
  }

  /// Adds a router, or replaces the one of the same id. When it was seen last stays as it is.
  ///
  /// - Returns: what has another name by that.
  @discardableResult mutating func set(_ router: consuming Router, firstSeen now: WireTime) -> NameNews {
    set(StoredRouter(router), firstSeen: now)
  }

  @discardableResult mutating func set(_ stored: StoredRouter, firstSeen now: WireTime) -> NameNews {
    let (agent, next) = (stored.agent, RouterCounts.Counted(stored.value))
    if let slot = index[agent].map(Int.init) {
      let news = counts.note(counted(in: slot), next)
      self[slot: slot] = Slot(stored, seen: self[slot: slot].seen)
      return news
    }
    let news = counts.note(.nothing, next)
    let new = Slot(stored, seen: now)
    if let slot = free.popLast() {
      index[agent] = slot
      self[slot: Int(slot)] = new
      return news
    }
    index[agent] = Int32(slots)
    let (group, page) = (slots / (Self.most * Self.most), slots / Self.most % Self.most)
    if group == groups.count { groups.append([]) }
    if page == groups[group].count {
      groups[group].append([])
      // A home of a few routers does not pay for a page.
      if slots > 0 { groups[group][page].reserveCapacity(Self.most) }
    }
    groups[group][page].append(new)
    slots += 1
    return news
  }

  /// What is counted of the router there.
  private func counted(in slot: Int) -> RouterCounts.Counted {
    self[slot: slot].stored.map { RouterCounts.Counted($0.value) } ?? .nothing
  }

  /// Notes that a router was seen, and the number of its message.
  mutating func see(_ agent: BorderAgentID, at now: WireTime, _ order: SequenceWindow.Order = .none) {
    guard let slot = index[agent].map(Int.init) else { return }
    guard order != .none, var router = self[slot: slot].stored?.value else {
      self[slot: slot].seen = now
      return
    }
    _ = router.order.take(order)
    self[slot: slot] = Slot(StoredRouter(router), seen: now)
  }

  /// The clock was set back: nothing was seen later than now.
  mutating func seeNotLater(than now: WireTime) {
    for slot in 0..<slots where self[slot: slot].seen > now { self[slot: slot].seen = now }
  }

  /// The router by which a network is shown.
  func shown(_ network: ExtendedPANID) -> Router? {
    let best = counts.shown.last { $0.network.number <= network.number }
    return best.flatMap { $0.network == network ? self[$0.example.agent] : nil }
  }

  /// Routers of a team behind an access point.
  func behind(_ accessPoint: ExactName, of team: ExactName, atMost most: Int) -> [Router] {
    counts.behind.first(most) {
      $0.accessPoint == accessPoint ? $0.team < team : $0.accessPoint < accessPoint
    } while: {
      $0.accessPoint == accessPoint && $0.team == team
    }.compactMap { self[$0.agent] }
  }

  /// The first teams that have routers behind an access point.
  func teams(behind accessPoint: ExactName, atMost most: Int) -> [ExactName] {
    var teams: [ExactName] = []
    while teams.count < most {
      let next = counts.behind.first(1) { router in
        router.accessPoint == accessPoint
          ? teams.last.map { router.team <= $0 } ?? false : router.accessPoint < accessPoint
      } while: {
        $0.accessPoint == accessPoint
      }
      guard let next = next.first else { break }
      teams.append(next.team)
    }
    return teams
  }

  /// Routers of a team that have left, the one that left first before others.
  func left(of team: ExactName, atMost most: Int) -> [Router] {
    counts.left.first(most, after: { $0.team < team }, while: { $0.team == team }).compactMap { self[$0.agent] }
  }

  /// Routers that were never on the preferred network, the one that came last before others.
  func newest(atMost most: Int) -> [Router] { counts.newest.prefix(most).compactMap { self[$0.agent] } }

  /// - Returns: as `set`.
  @discardableResult mutating func remove(_ agent: BorderAgentID) -> NameNews {
    guard let slot = index[agent] else { return NameNews() }
    index[agent] = nil
    let news = counts.note(counted(in: Int(slot)), .nothing)
    self[slot: Int(slot)] = Slot(nil, seen: WireTime(milliseconds: 0))
    free.append(slot)
    return news
  }
}

/// Where routers are in their table, in parts: a router that comes or goes copies one of them.
private struct RouterIndex {
  /// With fewer routers there is one part.
  private static let few = 256
  private static let most = 64

  private var parts: [[BorderAgentID: Int32]] = [[:]]
  private(set) var count = 0

  /// Whoever makes up ids can have them all in one part, which is then as if there were one only.
  private func part(of agent: BorderAgentID) -> Int {
    let (high, low) = agent.numbers
    let mixed = (high ^ low) &* 0x9E37_79B9_7F4A_7C15
    return parts.count == 1 ? 0 : Int(mixed >> 58)
  }

  subscript(agent: BorderAgentID) -> Int32? {
    get { parts[part(of: agent)][agent] }
    set {
      let part = part(of: agent)
      if let newValue {
        if parts[part].updateValue(newValue, forKey: agent) == nil { count += 1 }
      } else if parts[part].removeValue(forKey: agent) != nil {
        count -= 1
      }
      if count == Self.few, parts.count == 1 { divide() }
    }
  }

  private mutating func divide() {
    let all = parts[0]
    parts = Array(repeating: [:], count: Self.most)
    for (agent, slot) in all { parts[part(of: agent)][agent] = slot }
  }
}

extension RouterTable: Sequence {
  package struct Iterator: IteratorProtocol {
    fileprivate let table: RouterTable
    fileprivate var slot = 0

    package mutating func next() -> Router? {
      while slot < table.slots {
        defer { slot += 1 }
        if let stored = table[slot: slot].stored { return stored.value }
      }
      return nil
    }
  }

  package func makeIterator() -> Iterator { Iterator(table: self) }

  /// Routers for which something other than silence may become due.
  var waiting: [StoredRouter] {
    var waiting: [StoredRouter] = []
    forEachSlot { if $0.pointee.waits.contains(.other), let stored = $0.pointee.stored { waiting.append(stored) } }
    return waiting
  }

  /// The earliest time at which a router was seen last, of those whose silence means something; nil: there is none.
  var longestSilent: WireTime? {
    var longest: WireTime?
    forEachSlot {
      let seen = $0.pointee.seen
      if $0.pointee.waits.contains(.silence), longest.map({ seen < $0 }) ?? true { longest = seen }
    }
    return longest
  }

  /// Those whose silence means something, and that were not seen since then.
  func silent(since time: WireTime) -> [Router] {
    var silent: [Router] = []
    forEachSlot {
      guard $0.pointee.waits.contains(.silence), $0.pointee.seen < time, let stored = $0.pointee.stored else { return }
      silent.append(stored.value)
    }
    return silent
  }

  /// By pointer: a copy of a slot would retain its router, and so touch its memory.
  private func forEachSlot(_ body: (UnsafePointer<Slot>) -> Void) {
    for page in groups.joined() {
      page.withUnsafeBufferPointer { slots in
        guard let first = slots.baseAddress else { return }
        for slot in slots.indices { body(first + slot) }
      }
    }
  }

  /// Lends each router without a copy, with when it was seen last.
  package func forEach(_ body: (_ router: borrowing Router, _ seen: WireTime) -> Void) {
    for page in groups.joined() { for slot in page { slot.stored?.lend(slot.seen, to: body) } }
  }

  /// Lends each; only those are copied that are meant.
  package func filter(_ isMeant: (borrowing Router) -> Bool) -> [Router] {
    var meant: [Router] = []
    for page in groups.joined() {
      for slot in page {
        if let stored = slot.stored, stored.lend(slot.seen, to: { router, _ in isMeant(router) }) {
          meant.append(stored.value)
        }
      }
    }
    return meant
  }
}

extension RouterTable: Equatable {
  /// Whether both have the same routers. When they were seen last is not compared: it is saved with the next change.
  package static func == (a: RouterTable, b: RouterTable) -> Bool {
    a.count == b.count && a.allSatisfy { b[$0.agent] == $0 }
  }
}
