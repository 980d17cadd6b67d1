// SPDX-License-Identifier: Apache-2.0

extension AccessList {
  /// - Throws: `AccessListError` for the first thing that would break the list.
  func check() throws(AccessListError) {
    for user in daemons + monitors + approvers + deciders { try Self.check(userName: user) }
    for user in kept { try Self.check(line: user) }
    for topic in baseTopics + [discoveryPrefix] { try Self.check(baseTopic: topic) }
    for user in daemons {
      // What is denied to the others wins: the daemon would receive nothing.
      for (role, users) in [
        ("a monitor", monitors), ("an approver", approvers), ("a kept login", kept),
      ] where users.contains(user) {
        throw .userName(
          user,
          "it is threadkeeper's own login, which cannot be \(role) too. Give each a login of its own"
        )
      }
    }
  }

  /// Whether a user name keeps its place in the topics.
  package static func check(userName: String) throws(AccessListError) {
    try check(line: userName)
    // At scalars: to Swift, a slash and an accent after it are one character.
    let scalars = userName.unicodeScalars
    if scalars.contains("/") {
      throw .userName(
        userName,
        "with `/` it reaches into the topics of another user (`a/request` could speak "
          + "for `a`)")
    }
    if scalars.contains("+") || scalars.contains("#") {
      throw .userName(
        userName,
        "`+` and `#` are wildcards of MQTT, and Mosquitto denies everything to such a "
          + "user")
    }
    // A name is also the name of a directory with the login's settings.
    if userName == "." || userName == ".." || userName.utf8.count > 200 {
      throw .userName(userName, "it can't be the name of a directory")
    }
  }

  /// Whether a user name can stand in a line of the list, and in a password file.
  private static func check(line userName: String) throws(AccessListError) {
    guard !userName.isEmpty else { throw .userName(userName, "it is empty") }
    if userName.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) {
      throw .userName(userName, "control characters end a line of the list")
    }
    if userName.unicodeScalars.contains(":") {
      throw .userName(userName, "`:` ends the name in Mosquitto's password file")
    }
    if userName.first == " " || userName.last == " " {
      throw .userName(userName, "Mosquitto drops spaces at its ends")
    }
  }

  private static func check(baseTopic: String) throws(AccessListError) {
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
