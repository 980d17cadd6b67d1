/// Retained topics whose states have changed, each once, in the order in which they began to differ: ten changes in a
/// row are one state.
struct DirtyPlaces {
  struct Entry {
    let place: RetainedPlace
    /// Its place among the stored messages: where it changed first, and last.
    let row: Int64
    var lastRow: Int64
  }

  /// So many are moved up together, and have room while nothing waits.
  private static let piece = 1_024

  private var entries: [Entry] = []
  private var head = 0
  private var lastRows: [RetainedPlace: Int64] = [:]

  var first: Entry? {
    guard head < entries.count else { return nil }
    var entry = entries[head]
    entry.lastRow = lastRows[entry.place] ?? entry.row
    return entry
  }

  mutating func add(_ place: RetainedPlace, row: Int64) {
    if let last = lastRows.updateValue(row, forKey: place) {
      lastRows[place] = max(last, row)
    } else {
      entries.append(Entry(place: place, row: row, lastRow: row))
    }
  }

  mutating func removeFirst() {
    lastRows[entries[head].place] = nil
    head += 1
    if head == entries.count, lastRows.capacity > Self.piece {
      // After a burst both would keep the room that it needed.
      self = DirtyPlaces()
    } else if head == entries.count || head >= Self.piece {
      entries.removeFirst(head)
      head = 0
    }
  }

  /// Puts them before all others.
  mutating func addFirst(_ places: [RetainedPlace]) {
    var first: [Entry] = []
    for place in places where lastRows[place] == nil {
      lastRows[place] = 0
      first.append(Entry(place: place, row: 0, lastRow: 0))
    }
    entries = first + entries[head...]
    head = 0
  }
}
