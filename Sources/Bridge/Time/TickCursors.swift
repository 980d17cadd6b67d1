// SPDX-License-Identifier: Apache-2.0

/// How far the walks have come that continue from tick to tick, as row ids of routers.
struct TickCursors: Sendable {
  /// Routers that have fallen silent.
  var presence: Int64 = 0
  /// Routers that are to be given the preferred credentials.
  var adoptions: Int64 = 0
}
