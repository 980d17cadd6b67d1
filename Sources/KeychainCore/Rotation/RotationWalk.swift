// SPDX-License-Identifier: Apache-2.0

/// How far the walk through the items is.
struct RotationWalk {
  /// The row that was looked at last.
  var row: Int64 = 0
  var renewed = 0
  var locked = 0
  var damagedRows: Set<Int64> = []
  var isOver = false
}
