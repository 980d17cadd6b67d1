// SPDX-License-Identifier: Apache-2.0

import ThreadkeeperDaemon

extension TeamCheck {
  /// Lines of `status`, each with its label; empty when all is well.
  var lines: [(String, String)] {
    var lines = empty.map {
      ("teams", "no user belongs to the team `\($0.printable)` of the settings")
    }
    if let first = abandonedIds.first {
      let others = abandonedIds.count - 1
      let more = others > 0 ? "; `threadkeeper status --json` has \(others) more" : ""
      lines.append(
        (
          "owners",
          "\(first.borderAgentId.printable) belongs to the team `\(first.team.printable)`, for which nobody "
            + "speaks: \(Self.remedy(first.borderAgentId.printable))\(more)"
        ))
    }
    return lines
  }
}
