// SPDX-License-Identifier: Apache-2.0

import Broker

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension WireTime {
  var date: Date { Date(timeIntervalSince1970: Double(milliseconds) / 1_000) }
}
