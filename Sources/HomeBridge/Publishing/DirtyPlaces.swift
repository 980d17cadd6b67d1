// SPDX-License-Identifier: Apache-2.0

/// Retained topics whose states have changed, each once, in the order in which they began to differ: ten changes in a
/// row are one state.
struct DirtyPlaces {
  struct Entry {
    let place: RetainedPlace
    /// Its place among the stored messages.
    let row: Int64
  }

  private var entries: [Entry] = []
  private var head = 0
  private var known: Set<RetainedPlace> = []

  var first: Entry? { head < entries.count ? entries[head] : nil }

  mutating func add(_ place: RetainedPlace, row: Int64) {
    if known.insert(place).inserted { entries.append(Entry(place: place, row: row)) }
  }

  mutating func removeFirst() {
    known.remove(entries[head].place)
    head += 1
    if head == entries.count || head >= 1_024 {
      entries.removeFirst(head)
      head = 0
    }
  }

  /// Puts them before all others.
  mutating func addFirst(_ places: [RetainedPlace]) {
    let rest = entries[head...]
    entries = places.filter { known.insert($0).inserted }.map { Entry(place: $0, row: 0) } + rest
    head = 0
  }

  mutating func removeAll() { self = DirtyPlaces() }
}
