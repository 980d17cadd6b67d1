// SPDX-License-Identifier: Apache-2.0

/// Names an item (or a key slot) for ever.
package struct ItemID: SixteenBytes {
  package let high: UInt64
  package let low: UInt64

  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }
}
