// SPDX-License-Identifier: Apache-2.0

/// User names, by the rule of `mqtt.username`.
package enum Username {
  /// - Throws: `CommandFailure` with status 64, without the name: people mistake one field for another.
  package static func checked(_ name: String) throws(CommandFailure) -> String {
    let text = name.unicodeScalars
    guard (1...256).contains(text.count), !text.contains(where: isUnfit) else {
      throw CommandFailure(
        .usage,
        "a user name has 1 to 256 characters, no control character, none of `/`, `+`, `#`")
    }
    return name
  }

  private static func isUnfit(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.generalCategory == .control || ["/", "+", "#"].contains(scalar)
  }
}
