// SPDX-License-Identifier: Apache-2.0

/// The topic that everything of one home lies below.
enum BaseTopic {
  /// Levels of text, no wildcard (MQTT 5.0, 4.7.1), no `$` as system topics have it (4.7.2), and
  /// no `%`, which the access list of a broker would replace by a user's name.
  static func isFit(_ topic: String) -> Bool {
    guard (1...128).contains(topic.utf8.count) else { return false }
    let levels = topic.unicodeScalars.split(separator: "/", omittingEmptySubsequences: false)
    return levels.allSatisfy { level in
      !level.isEmpty
        && level.allSatisfy { scalar in
          !ASCII.isControl(scalar) && !["+", "#", "$", "%"].contains(scalar)
        }
    }
  }

  /// Whether a message below one could be taken for one below the other.
  static func overlap(_ left: String, _ right: String) -> Bool {
    left == right || left.hasPrefix(right + "/") || right.hasPrefix(left + "/")
  }
}
