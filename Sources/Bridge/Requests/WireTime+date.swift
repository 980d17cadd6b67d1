// SPDX-License-Identifier: Apache-2.0

import Broker
import FoundationEssentials

extension WireTime {
  var date: Date { Date(timeIntervalSince1970: Double(milliseconds) / 1_000) }
}
