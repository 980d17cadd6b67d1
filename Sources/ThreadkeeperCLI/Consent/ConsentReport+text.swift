// SPDX-License-Identifier: Apache-2.0

import ConsentLedger
import ThreadkeeperDaemon

extension ConsentReport.Request {
  var networkNames: String { networks.map(\.description).joined(separator: ", ") }

  /// With the router that would get it: `"home-thread" (1111111122222222) for deadbeefcafe0042 "Attic"`. One
  /// requester may speak for several.
  var wanted: String { networkNames + (router.map { " for \($0)" } ?? "") }
}
