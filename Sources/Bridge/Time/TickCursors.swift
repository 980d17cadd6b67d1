// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol

/// What continues from tick to tick: how far walks have come, as row ids of routers, and the time.
struct TickCursors: Sendable {
  /// The time of the tick before; nil at the first one.
  var time: WireTime?
  /// Routers that have fallen silent.
  var presence: Int64 = 0
  /// Routers that are to be given the preferred credentials.
  var adoptions: Int64 = 0
}
