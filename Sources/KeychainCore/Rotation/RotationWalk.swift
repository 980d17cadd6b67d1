// SPDX-License-Identifier: Apache-2.0

/// How far the walk through the items is.
struct RotationWalk {
  /// The newest keys when it began. When there are newer ones, it begins again.
  private(set) var keys: [KeyID] = []
  /// The row that was looked at last.
  var row: Int64 = 0
  /// Items, each once, however often the walk began.
  private(set) var renewed = 0
  var locked = 0
  var damagedRows: Set<Int64> = []
  var isOver = false
  /// The rows that are counted in `renewed`: a bit for each, in words of 64 rows. So a million items take
  /// some hundred kilobytes.
  private var counted: [Int64: UInt64] = [:]

  mutating func begin(again keys: [KeyID]) {
    self.keys = keys
    (row, locked, damagedRows) = (0, 0, [])
  }

  mutating func count(_ row: Int64) {
    let bit: UInt64 = 1 << UInt64(row & 63)
    guard counted[row >> 6, default: 0] & bit == 0 else { return }
    counted[row >> 6, default: 0] |= bit
    renewed += 1
  }
}
