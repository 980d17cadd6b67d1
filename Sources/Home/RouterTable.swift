// SPDX-License-Identifier: Apache-2.0

import ThreadDataset

/// The routers of a home, in the order in which they came; the place of one that went is taken by the next one.
///
/// A copy of the table costs nothing until one of the two changes, so a reader keeps a snapshot while the home goes on.
/// The first change then copies what it changes, never the routers: a page of 64 references and the list of pages; the
/// index, where a router comes or goes; the counts that change with it. When routers were seen last is a column of its
/// own, which the first sign of life copies: 8 bytes for each.
package struct RouterTable: Sendable {
  /// Immutable, so that snapshots can be read by other threads.
  private final class Box: Sendable {
    let router: Router
    init(_ router: Router) { self.router = router }
  }

  private static let page = 64

  /// Changes only when a router comes or goes.
  private var index: [BorderAgentID: Int32] = [:]
  private var pages: [[Box?]] = []
  private var seen: [WireTime] = []
  private var free: [Int32] = []
  private(set) var counts = RouterCounts()

  package init() {}

  package var count: Int { index.count }

  package var totals: RouterTotals { counts.totals }

  package subscript(agent: BorderAgentID) -> Router? {
    guard let slot = index[agent] else { return nil }
    return pages[Int(slot) / Self.page][Int(slot) % Self.page]?.router
  }

  /// Lends a router without a copy.
  func contains(_ agent: BorderAgentID, where isMeant: (borrowing Router) -> Bool) -> Bool {
    guard let slot = index[agent], let box = pages[Int(slot) / Self.page][Int(slot) % Self.page]
    else { return false }
    return isMeant(box.router)
  }

  /// When a router was seen last; the beginning of time for one that is not there.
  package func lastSeen(_ agent: BorderAgentID) -> WireTime {
    index[agent].map { seen[Int($0)] } ?? WireTime(milliseconds: 0)
  }

  /// Adds a router, or replaces the one of the same id. When it was seen last stays as it is.
  mutating func set(_ router: Router, firstSeen now: WireTime) {
    counts.note(self[router.agent], router)
    if let slot = index[router.agent] {
      pages[Int(slot) / Self.page][Int(slot) % Self.page] = Box(router)
      return
    }
    if let slot = free.popLast() {
      index[router.agent] = slot
      seen[Int(slot)] = now
      pages[Int(slot) / Self.page][Int(slot) % Self.page] = Box(router)
      return
    }
    index[router.agent] = Int32(seen.count)
    if seen.count % Self.page == 0 {
      pages.append([])
      // A home of a few routers does not pay for a page.
      if seen.count > 0 { pages[pages.count - 1].reserveCapacity(Self.page) }
    }
    pages[pages.count - 1].append(Box(router))
    seen.append(now)
  }

  mutating func see(_ agent: BorderAgentID, at now: WireTime) {
    if let slot = index[agent] { seen[Int(slot)] = now }
  }

  /// The clock was set back: nothing was seen later than now.
  mutating func seeNotLater(than now: WireTime) {
    for slot in seen.indices where seen[slot] > now { seen[slot] = now }
  }

  mutating func findShown() { counts.findShown(among: self) }

  /// The router by which a network is shown.
  func shown(_ network: ExtendedPANID) -> Router? {
    guard counts.unshown.contains(network) else {
      return counts.shown[network].flatMap { self[$0.agent] }
    }
    return lazy.filter { $0.isPresent && $0.network == network }.max {
      RouterCounts.Example($0) < RouterCounts.Example($1)
    }
  }

  mutating func remove(_ agent: BorderAgentID) {
    counts.note(self[agent], nil)
    guard let slot = index.removeValue(forKey: agent) else { return }
    pages[Int(slot) / Self.page][Int(slot) % Self.page] = nil
    free.append(slot)
  }
}

extension RouterTable: Sequence {
  package struct Iterator: IteratorProtocol {
    fileprivate let table: RouterTable
    fileprivate var slot = 0

    package mutating func next() -> Router? {
      while slot < table.seen.count {
        defer { slot += 1 }
        if let box = table.pages[slot / RouterTable.page][slot % RouterTable.page] {
          return box.router
        }
      }
      return nil
    }
  }

  package func makeIterator() -> Iterator { Iterator(table: self) }
}

extension RouterTable: Equatable {
  /// Whether both have the same routers. When they were seen last is not compared: it is saved with the next change.
  package static func == (a: RouterTable, b: RouterTable) -> Bool {
    a.count == b.count && a.allSatisfy { b[$0.agent] == $0 }
  }
}
