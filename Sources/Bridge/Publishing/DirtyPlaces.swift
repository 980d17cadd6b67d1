/// Retained topics whose states have changed, each once, in the order in which they began to differ: ten changes in a
/// row are one state.
struct DirtyPlaces {
  /// So many are moved up together, and have room while nothing waits.
  private static let piece = 1_024

  private var entries: [RetainedPlace] = []
  private var head = 0
  /// With the stored message where it changed last.
  private var lastRows: [RetainedPlace: Int64] = [:]

  var count: Int { entries.count - head }
  var first: RetainedPlace? { head < entries.count ? entries[head] : nil }

  func lastRow(of place: RetainedPlace) -> Int64 { lastRows[place] ?? 0 }

  mutating func add(_ place: RetainedPlace, row: Int64 = 0) {
    if let last = lastRows.updateValue(row, forKey: place) {
      lastRows[place] = max(last, row)
    } else {
      entries.append(place)
    }
  }

  /// - Returns: where it changed last.
  @discardableResult mutating func removeFirst() -> Int64 {
    let last = lastRows.removeValue(forKey: entries[head]) ?? 0
    head += 1
    if head == entries.count, lastRows.capacity > Self.piece {
      // After a burst both would keep the room that it needed.
      self = DirtyPlaces()
    } else if head == entries.count || head >= Self.piece {
      entries.removeFirst(head)
      head = 0
    }
    return last
  }

  /// Puts them before all others.
  mutating func addFirst(_ places: [RetainedPlace]) {
    var first: [RetainedPlace] = []
    for place in places where lastRows[place] == nil {
      lastRows[place] = 0
      first.append(place)
    }
    entries = first + entries[head...]
    head = 0
  }
}
