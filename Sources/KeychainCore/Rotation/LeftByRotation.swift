// SPDX-License-Identifier: Apache-2.0

/// What a walk that came to its end had to leave as it was: another one would do so, too.
struct LeftByRotation {
  /// The newest keys at the end. All that is under older ones for attributes since then is damaged.
  let keys: [KeyID]
  let damagedRows: Set<Int64>
}
