// SPDX-License-Identifier: Apache-2.0

/// How far the walk through the items is.
struct RotationWalk {
  /// The newest keys when it began. When there are newer ones, it begins again.
  var keys: [KeyID] = []
  /// The row that was looked at last.
  var row: Int64 = 0
  var renewed = 0
  var locked = 0
  var damaged = 0
  var isOver = false
}
