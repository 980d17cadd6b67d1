// SPDX-License-Identifier: Apache-2.0

import ThreadkeeperDaemon

/// What `store restore` says of who has access again.
extension RestoredAccess {
  /// Of each kind, for a person.
  private static let listed = 20

  /// - Parameter made: when the backup was.
  func text(made: String) -> String {
    var text = ""
    if !clients.isEmpty || !damaged.isEmpty || !grants.isEmpty {
      text +=
        "As of \(made), when the backup was made, these have access. Revoke again who was revoked since"
        + " (`threadkeeper clients revoke`, `threadkeeper consent revoke`):\n"
      text += Self.list(
        clients.count == 1 ? "1 enrolled client" : "\(clients.count) enrolled clients",
        clients.map { "\($0.user), home \($0.home)" })
      text += Self.list("with a damaged enrolment", damaged)
      text += Self.list(
        grants.count == 1 ? "1 consent \"always\"" : "\(grants.count) consents \"always\"",
        grants.map { "\($0.id): \($0.command) of \($0.wanted) to \($0.requester)" })
    }
    if !brokerLogins.isEmpty {
      text +=
        "The broker's password is as it was then. If it was changed since: `threadkeeper login`.\n"
      text += Self.list("for", brokerLogins.map { "\($0.username) at \($0.broker)" })
    }
    text +=
      "The store's key slots are as they were then. Remove again what was removed since"
      + " (`threadkeeper keys remove`):\n"
    text += Self.list(
      keySlots.count == 1 ? "1 key slot" : "\(keySlots.count) key slots",
      keySlots.map { "\($0.id): \($0.kind)\($0.label.isEmpty ? "" : " " + $0.label)" })
    return text
  }

  private static func list(_ heading: String, _ names: [String]) -> String {
    guard !names.isEmpty else { return "" }
    var text = "  \(heading)\n"
    for name in names.prefix(listed) { text += "    \(name.printable)\n" }
    let rest = names.count - listed
    return text + (rest > 0 ? "    and \(rest) more; --json lists all\n" : "")
  }
}
