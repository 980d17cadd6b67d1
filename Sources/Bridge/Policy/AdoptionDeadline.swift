// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol

/// Whether a router has taken too long.
enum AdoptionDeadline {
  /// A clock that was set back must not make it wait for hours: then it is over, too.
  static func isOver(_ deadline: Int64, timeout: Int, now: WireTime) -> Bool {
    let left = deadline - now.milliseconds
    return left <= 0 || left > Int64(timeout + 60) * 1_000
  }
}
