// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

extension Int64 {
  /// The time that these microseconds since 1970 are.
  var date: Date { Date(timeIntervalSince1970: Double(self) / 1_000_000) }
}
