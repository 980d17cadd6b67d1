// SPDX-License-Identifier: Apache-2.0

/// The access list that the topics of threadkeeper rely on, in Mosquitto's form.
///
/// MQTT does not tell a receiver who published. So the broker must see to it that
/// `<base>/in/<user>/…` can only be written by `<user>`, and `<base>/out/<user>/…` only be read by
/// `<user>`.
package enum AccessList {
  /// Where Home Assistant says that it has started.
  private static let birth = "homeassistant/status"

  /// - Parameters:
  ///   - baseTopics: one for each home.
  ///   - keeper: the login of threadkeeper itself.
  ///   - monitors: logins that see state, events and alerts, but neither what routers say nor
  ///     what is answered to others, and that write nothing but that Home Assistant has started.
  /// - Throws: `EmbeddedBrokerError` for a user name or a base topic that would break the list.
  package static func text(
    baseTopics: [String], keeper: String, monitors: [String] = []
  ) throws(EmbeddedBrokerError) -> String {
    try text(baseTopics: baseTopics, keepers: [keeper], monitors: monitors)
  }

  /// The same for any number of keepers.
  static func text(
    baseTopics: [String], keepers: [String], monitors: [String]
  ) throws(EmbeddedBrokerError) -> String {
    for user in keepers + monitors { try check(userName: user) }
    // What is denied to a monitor wins: the keeper would hear nothing.
    for user in keepers where monitors.contains(user) {
      throw .userName(user, "it is the keeper's own login, which cannot be a monitor too")
    }
    for topic in baseTopics { try check(baseTopic: topic) }

    var lines: [String] = []
    for keeper in keepers {
      lines += ["# threadkeeper itself.", "user \(keeper)"]
      for base in baseTopics { lines.append("topic readwrite \(base)/#") }
      lines += [
        "# Home Assistant has started: what it knew is published anew.", "topic read \(birth)",
        "# The broker's own counters: is it dropping messages?", "topic read $SYS/broker/#", "",
      ]
    }
    if !monitors.isEmpty {
      lines.append("# Who only watches, and may say that Home Assistant has started.")
      lines.append("# What is denied wins over what is allowed.")
      var listed: Set<String> = []
      for monitor in monitors where listed.insert(monitor).inserted {
        lines += ["user \(monitor)", "topic write \(birth)"]
        for base in baseTopics {
          lines += [
            "topic read \(base)/#", "topic deny \(base)/in/#", "topic deny \(base)/out/#",
          ]
        }
        lines.append("")
      }
    }

    lines.append("# Everybody else speaks and is answered under the own user name.")
    for base in baseTopics {
      lines += ["pattern write \(base)/in/%u/#", "pattern read \(base)/out/%u/#"]
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// Whether a user name keeps its place in the topics.
  package static func check(userName: String) throws(EmbeddedBrokerError) {
    guard !userName.isEmpty else { throw .userName(userName, "it is empty") }
    if userName.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) {
      throw .userName(userName, "control characters end a line of the list")
    }
    if userName.contains("/") {
      throw .userName(
        userName,
        "with `/` it reaches into the topics of another user (`a/request` could speak "
          + "for `a`)")
    }
    if userName.contains("+") || userName.contains("#") {
      throw .userName(
        userName,
        "`+` and `#` are wildcards of MQTT, and Mosquitto denies everything to such a "
          + "user")
    }
    if userName.contains(":") {
      throw .userName(userName, "`:` ends the name in Mosquitto's password file")
    }
    if userName.first == " " || userName.last == " " {
      throw .userName(userName, "Mosquitto drops spaces at its ends")
    }
    // A name is also the name of a directory with the login's settings.
    if userName == "." || userName == ".." || userName.utf8.count > 200 {
      throw .userName(userName, "it can't be the name of a directory")
    }
  }

  private static func check(baseTopic: String) throws(EmbeddedBrokerError) {
    let isClean =
      !baseTopic.isEmpty && baseTopic.first != " " && baseTopic.last != " "
      && !baseTopic.hasPrefix("/") && !baseTopic.hasSuffix("/")
      && !baseTopic.contains("%u") && !baseTopic.contains("%c")
      && !baseTopic.unicodeScalars.contains {
        $0 == "+" || $0 == "#" || $0.value < 0x20 || $0.value == 0x7F
      }
    guard isClean else { throw .baseTopic(baseTopic) }
  }
}
