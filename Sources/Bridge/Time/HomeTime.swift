// SPDX-License-Identifier: Apache-2.0

import Broker
import Home

import struct Home.WireTime

/// Time as the homes have it. `Broker` has the same type under the same name.
package typealias HomeTime = WireTime

extension Broker.WireTime {
  /// The same as the homes have it.
  package var value: HomeTime { HomeTime(milliseconds: milliseconds) }
}

extension HomeTime {
  /// The same as it is published.
  package var published: Broker.WireTime { Broker.WireTime(milliseconds: milliseconds) }
}
