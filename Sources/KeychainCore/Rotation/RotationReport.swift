// SPDX-License-Identifier: Apache-2.0

/// How far a rotation is.
package struct RotationProgress: Equatable, Sendable {
  /// Items that were sealed again by this run.
  package var renewed = 0
  /// All items of the store when the run began. Of a run that was interrupted, fewer are left.
  package var items = 0
}

/// What a rotation came to.
package struct RotationReport: Equatable, Sendable {
  /// It went on with one that had been interrupted.
  package var wasPending = false
  /// False when it was stopped: the next one goes on.
  package var isFinished = false
  package var renewed = 0
  /// Items whose class is locked: their secrets keep the old keys until the next rotation.
  package var locked = 0
  /// Items that do not open. They stay as they are, and so do their keys.
  package var damaged = 0
  /// Keys whose records were removed.
  package var retiredKeys = 0

  /// This pass and those before it, as one work.
  package func after(_ before: RotationReport?) -> RotationReport {
    guard let before else { return self }
    var sum = self
    sum.wasPending = before.wasPending
    sum.renewed += before.renewed
    sum.retiredKeys += before.retiredKeys
    return sum
  }
}

/// How far the walk through the items is.
struct RotationWalk {
  /// The row that was looked at last.
  var row: Int64 = 0
  var renewed = 0
  var locked = 0
  var damagedRows: Set<Int64> = []
  var isOver = false
}

/// What a walk that came to its end had to leave as it was: another one would do so, too.
struct LeftByRotation {
  /// The newest keys at the end. All that is under older ones for attributes since then is damaged.
  let keys: [KeyID]
  let damagedRows: Set<Int64>
}
