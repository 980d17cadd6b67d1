// SPDX-License-Identifier: Apache-2.0

/// Finds the name that was probably meant.
enum NearestName {
  /// The candidate with the fewest slips of the pen, if they are few enough for the word.
  static func nearest(to word: String, among candidates: [String]) -> String? {
    let word = folded(word)
    // One letter resembles every other.
    guard word.count >= 3 else { return nil }
    var best: (name: String, distance: Int)?
    for candidate in candidates {
      let name = folded(candidate)
      var distance = distance(word, name)
      let limit = max(1, min(word.count, name.count) / 3)
      if distance > limit {
        // `user` for `username`, `topic` for `base_topic`.
        guard isPart(word, of: name) || isPart(name, of: word) else { continue }
        distance = limit + 1
      }
      if distance < best?.distance ?? Int.max { best = (candidate, distance) }
    }
    return best?.name
  }

  /// What people mix up without thinking: case, and the sign between words.
  private static func folded(_ name: String) -> [UInt8] {
    name.lowercased().utf8.prefix(64).map { $0 == UInt8(ascii: "-") ? UInt8(ascii: "_") : $0 }
  }

  private static func isPart(_ part: [UInt8], of whole: [UInt8]) -> Bool {
    whole.starts(with: part) || whole.reversed().starts(with: part.reversed())
  }

  /// Insertions, deletions, substitutions and swaps of neighbours (optimal string alignment).
  private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
    var beforeLast: [Int] = []
    var last = Array(0...right.count)
    for row in left.indices {
      var current = [row + 1]
      for column in right.indices {
        let same = left[row] == right[column]
        var least = min(last[column + 1] + 1, current[column] + 1, last[column] + (same ? 0 : 1))
        if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
          least = min(least, beforeLast[column - 1] + 1)
        }
        current.append(least)
      }
      beforeLast = last
      last = current
    }
    return last[right.count]
  }
}
