// SPDX-License-Identifier: Apache-2.0

import ThreadDataset

/// The message to a login that publishes for another team's border agent id.
package enum OwnershipAdvice {
  /// - Parameters:
  ///   - team: the team of the login that is refused.
  ///   - home: nil where there is only one.
  package static func message(
    _ agent: BorderAgentID, team: String, home: String? = nil
  ) -> String {
    let option = home.map { " --home \(word($0) ?? "HOME")" } ?? ""
    return "this border agent id belongs to another team; run "
      + "`threadkeeper routers transfer \(agent) \(word(team) ?? "TEAM")\(option)` to give it to "
      + "this login's team, or `threadkeeper routers release \(agent)\(option)` to give it to the "
      + "next one that announces it"
  }

  /// Nil for what a shell would not take as one plain word: the command is meant to be pasted.
  private static func word(_ text: String) -> String? {
    let isPlain =
      !text.isEmpty && text.first != "-"
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"):
          true
        default: "-_./@".utf8.contains(byte)
        }
      }
    return isPlain ? text : nil
  }
}
