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
    isWithin(left, right) || isWithin(right, left)
  }

  /// Whether the topic is among those that the daemon listens to for a home on `base`: `<base>/in/#`,
  /// which means `<base>/in` as well (MQTT 5.0, 4.7.1.2).
  static func isHeard(_ topic: String, on base: String) -> Bool {
    isWithin(topic, base + "/in")
  }

  /// Whether the first is the second or lies below it. Byte by byte, as a broker compares: a
  /// level that begins with a combining accent swallows the `/` before it for Swift's characters.
  private static func isWithin(_ topic: String, _ other: String) -> Bool {
    let topic = topic.utf8
    let other = other.utf8
    return topic.starts(with: other)
      && (topic.count == other.count || topic.dropFirst(other.count).first == UInt8(ascii: "/"))
  }
}
