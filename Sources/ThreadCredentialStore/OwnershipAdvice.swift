// SPDX-License-Identifier: Apache-2.0

import ThreadDataset

/// The message to a login that publishes for another team's border agent id.
package enum OwnershipAdvice {
  /// - Parameter home: nil where there is only one.
  package static func message(_ agent: BorderAgentID, home: String? = nil) -> String {
    let option = home.map { " --home \(word($0) ?? "HOME")" } ?? ""
    return
      "this border agent id belongs to another team; `threadkeeper routers remove \(agent)\(option)` "
      + "gives it to the next login that announces it"
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
