// SPDX-License-Identifier: Apache-2.0

/// Names a store for ever: in its anchor, in its client ids, in all that it seals.
package struct StoreID: SixteenBytes {
  package let high: UInt64
  package let low: UInt64

  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }
}
