import Home
import ThreadDataset
import ThreadkeeperSupport

/// What a login, and the programs that use it, do.
extension AlertSentences {
  var plaintext: (String, String) {
    (
      "\(user) sends network keys unsealed through the broker",
      "Enrol it with `threadkeeper clients enroll`, and let it seal what it sends. Until "
        + "then use TLS, an access list and no retained messages; a broker with persistence keeps "
        + "queued messages, keys included, in its own file."
    )
  }

  func agentNotWorking(_ trouble: String?) -> (String, String) {
    let name = facts.names.first.first.flatMap { ShownName.quoted($0, longest: 64) } ?? ""
    let more = facts.names.count - 1
    let others = more > 0 ? "; \(more) more of this login cannot either" : ""
    let last = facts.since == nil ? "it has never worked" : "it worked last at \(since)"
    let gone = " If this login is not used any more, run `threadkeeper clients revoke \(login) --forget\(homeOption)`."
    guard let trouble else {
      return (
        "The agent \(name) of login \(user) has reported nothing for three minutes; \(last)\(others)",
        "Check that it runs, that its machine is on, and that it reaches the broker." + gone
      )
    }
    let words = ShownName.quoted(trouble, longest: 300).map { ": \($0)" } ?? ""
    return (
      "The agent \(name) of login \(user) cannot do its work\(words); \(last)\(others)",
      (words.isEmpty ? "Look at its log." : "Fix that; its log may have more.") + gone
    )
  }

  func matterServer(_ trouble: String) -> (String, String) {
    let agent = facts.names.first.first ?? ""
    let place = ShownName.quoted(String(agent.drop { $0 != " " }.dropFirst()), longest: 64).map { "\($0) " } ?? ""
    let more = facts.names.count - 1
    let others = more > 0 ? "; the same of \(more) more of this login" : ""
    let last = facts.since == nil ? "it has never been given it" : "it had it last at \(since)"
    let words = ShownName.quoted(trouble, longest: 300).map { ": \($0)" } ?? ""
    return (
      "The Matter server \(place)of login \(user) is not known to have the preferred network of this home\(words); "
        + "\(last)\(others)",
      "Fix that: until then Thread devices that it commissions may not be put onto the preferred network. If this "
        + "login is not used any more, run `threadkeeper clients revoke \(login) --forget\(homeOption)`."
    )
  }

  /// What people call the sender is its own word, and the login was checked.
  private var sender: String { facts.names.first.first.map { "\($0) (login \(user))" } ?? "login \(user)" }
  private var shortSender: String { facts.names.first.first ?? "login \(user)" }

  private var decide: String {
    ways.isOnPage
      ? "Answer the request that waits on this page."
      : "Decide the request that waits, on the status page or by `threadkeeper consent list`."
  }
  private static let write = "start its agent with `--write`, which does so once you have agreed"

  func ghostNetwork(_ isAsked: Bool) -> (String, String) {
    let id = facts.network?.id.description ?? ""
    let network = ShownName.named(facts.network?.name, id, needsID: true)
    let delete = "Delete it in the settings of \(shortSender) (Thread), or \(Self.write)."
    return (
      "\(sender) still has network \(network), on which no border router has been seen since \(since)",
      "\(isAsked ? decide : delete) To keep it, \(run("networks accept \(id)\(homeOption)", or: "Keep it"))."
    )
  }

  func ghostAgent(_ isAsked: Bool) -> (String, String) {
    let other = facts.otherNames.first.first ?? ""
    let change = "Prefer \(other) in the settings of \(shortSender) (Thread), or \(Self.write)."
    return (
      "\(sender) prefers border router \(agent) of \(configured), which has not been seen there since \(since); "
        + "\(other) is", isAsked ? decide : change
    )
  }

  func shared() -> (String, String) {
    let (sender, short) = (sender, shortSender)
    let id = facts.preferred?.id.description ?? ""
    let write = Self.write
    func gone(_ network: String) -> String {
      "If \(short) is gone, or does not have this network any more, run `threadkeeper networks forget "
        + "\(network)\(homeOption)`."
    }
    switch facts.message {
    case .otherPreferred:
      let other = facts.network?.id.description ?? ""
      let network = facts.network?.shown ?? ""
      let (theirs, ours) = (
        ShownName.named(facts.network?.name, other, needsID: true),
        ShownName.named(facts.preferred?.name, id, needsID: true)
      )
      return (
        "\(sender) prefers network \(theirs), this home prefers \(ours)"
          + (facts.since == nil ? "" : "; no border router has been seen on \(network) since \(since)"),
        "To use \(network) here, too, \(run("preferred set \(other)\(homeOption)", or: "Prefer")). To use "
          + "\(preferredName) there, make it the preferred network in the settings of \(short) (Thread), or "
          + "\(write). \(gone(other))"
      )
    case .sharedPartial:
      let network = facts.network.flatMap { ShownName.quoted($0.name) } ?? "its network"
      return (
        "\(sender) has a dataset of \(network) that is not complete: \(lacking)",
        "Delete this network in the settings of \(short) (Thread), and send its credentials again from a phone, or "
          + "add the whole dataset of a border router there. \(gone(facts.network?.id.description ?? ""))"
      )
    case .sharedOlder:
      return (
        "\(sender) has an older dataset of the preferred network \(preferredName)",
        "Add the current credentials to \(short): send them from a phone again, or \(write). \(gone(id))"
      )
    default:
      return (
        "\(sender) has a dataset of the preferred network \(preferredName) that is not used: "
          + conflict(with: "the preferred one"),
        "Find out which one the border routers use. If it is that of \(short), run `threadkeeper networks "
          + "accept-credentials \(id)\(homeOption)`. If not, delete this network in the settings of \(short) "
          + "(Thread; make another one preferred there first), and send the credentials from a phone again. " + gone(id)
      )
    }
  }
}
