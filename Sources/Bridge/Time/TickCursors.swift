// SPDX-License-Identifier: Apache-2.0

/// What continues from tick to tick: how far walks have come, as row ids of routers, and the clock.
struct TickCursors: Sendable {
  var clock: ClockJumps
  /// Routers that have fallen silent.
  var presence: Int64 = 0
  /// Routers that are to be given the preferred credentials.
  var adoptions: Int64 = 0

  init(since moment: ClockMoment) { clock = ClockJumps(since: moment) }
}
