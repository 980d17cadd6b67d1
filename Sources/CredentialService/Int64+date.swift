// SPDX-License-Identifier: Apache-2.0

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension Int64 {
  /// The time that these microseconds since 1970 are.
  var date: Date { Date(timeIntervalSince1970: Double(self) / 1_000_000) }
}
