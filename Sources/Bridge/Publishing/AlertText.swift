// SPDX-License-Identifier: Apache-2.0

import Home
import HomeStore
import ThreadDataset
import ThreadkeeperSupport

/// What an alert says to people: what is wrong, and what to do. Names that others have chosen are quoted and cut.
struct AlertText {
  let summary: String
  let remedy: String

  /// - Parameter homeOption: for commands: ` --home NAME`, or nothing where there is one home.
  init(_ facts: AlertFacts, homeOption: String) {
    let sentences = Sentences(facts: facts, homeOption: homeOption)
    let both = sentences.both
    (summary, remedy) = (both.0, both.1 + sentences.never)
  }
}

extension AlertFacts {
  /// The reason of an alert, for programs.
  var reason: StaticString? {
    switch message {
    case .neverMember: "never_member"
    case .offline(let reason), .agentSilent(let reason): reason?.word
    case .lostNetwork: OfflineReason.noNetwork.word
    case .silentWithoutNetwork: OfflineReason.silent.word
    case .notSeen(let isStopped): isStopped ? OfflineReason.stopped.word : nil
    case .adoptionFailed(let state, _): state.word
    case .noPreferred(_, let networks, let more):
      networks.count + more > 1 || user != nil ? "several_networks" : nil
    case .preferredChanged(let change, let disagrees):
      disagrees
        ? AdoptionState.disagreement.word : change.hasUnconfirmedKeys ? "unconfirmed_keys" : nil
    default: nil
    }
  }
}

/// Names for a sentence: at most three, and how many more there are.
private func list(_ names: AlertFacts.Names) -> String {
  var shown = names.first
  let more = names.count - shown.count
  if more > 0 { shown.append("\(more) more") }
  guard let last = shown.popLast() else { return "nobody" }
  return shown.isEmpty ? last : "\(shown.joined(separator: ", ")) and \(last)"
}

private struct Sentences {
  let facts: AlertFacts
  let homeOption: String

  private var agent: String { facts.router?.description ?? "" }
  private var name: String {
    ShownName.named(facts.routerName, agent, needsID: facts.routerNeedsID)
  }
  private var preferredName: String {
    facts.preferred.flatMap { $0.name.isEmpty ? nil : $0.shown } ?? "the preferred network"
  }
  /// The network that its dataset is for.
  private var configured: String {
    (facts.configured ?? facts.network).map { $0.name.isEmpty ? "network \($0.id)" : $0.shown }
      ?? "its network"
  }
  /// The network that it is on.
  private var network: String {
    guard facts.configured != nil, let current = facts.network else { return configured }
    return ShownName.quoted(current.name).map { "\($0) (\(current.id))" } ?? "network \(current.id)"
  }
  /// What a dataset lacks.
  private var lacking: String {
    "\(list(facts.otherNames)) \(facts.otherNames.count == 1 ? "is" : "are") missing"
  }
  private var user: String { ShownName.account(facts.user?.text ?? "") }
  /// For a command, which a shell reads.
  private var login: String { user == facts.user?.text ? user : "LOGIN" }
  private var since: String {
    guard let since = facts.since else { return "" }
    var text = JSONBytes(capacity: 20)
    text.time(since)
    return String(decoding: text.bytes, as: UTF8.self)
  }

  var both: (String, String) {
    switch facts.message {
    case .elsewhere(let isConfigured): elsewhere(isConfigured)
    case .notAttached:
      (
        moving ?? "\(name) was given the credentials of \(preferredName) and is not attached to it",
        adoption ?? "\(inReach). If it is not attached in time, another alert has the remedy."
      )
    case .neverMember:
      (
        "\(name) is on \(network), and has never been on the preferred network \(preferredName)",
        (facts.looksPreferred
          ? "Find out whose network this is: it has the name of yours, and its devices are not on yours. "
          : "")
          + "If that is on purpose, run `threadkeeper networks accept "
          + "\(facts.network?.id.description ?? "")\(homeOption)`. If not, give "
          + "\(name) the credentials of \(preferredName) in its own app or page."
      )
    case .otherNetwork:
      (
        moving ?? "\(name) is on \(network), not on the preferred network \(preferredName)",
        adoption
          ?? "Give \(name) the credentials of \(preferredName) in its own app or page; if \(network) is "
          + "where it should be, move the other routers there instead."
      )
    case .otherCredentials:
      (
        moving ?? "\(name) has other credentials for the preferred network \(preferredName)",
        adoption
          ?? "Give \(name) the current credentials of \(preferredName), or let a router that was on it "
          + "before bring the new ones."
      )
    case .behind:
      (
        "\(name) still uses an older dataset of the preferred network \(preferredName)",
        "If \(name) is online and does not follow within minutes, restart it; if it stays behind, give it "
          + "the current dataset."
      )
    case .reportsOlder:
      (
        "\(name) reported an older dataset of \(configured) than it had before",
        "Check whether \(name) was restored or reset; give it the current dataset of \(configured)."
      )
    case .sameAge:
      (
        "\(name) and the preferred network \(preferredName) have datasets of the same age that differ"
          + (differing.map { " (\($0))" } ?? ""),
        "Set one of them with a later active timestamp, so that all routers take it."
      )
    case .reportsConflict:
      (
        "\(name) reported a dataset of \(configured) that is not taken: \(conflict(with: "the stored one"))",
        "Set the right dataset on \(name) with a later active timestamp. If its timestamp is far ahead and "
          + "it is the right one, run `threadkeeper preferred set` with it."
      )
    case .noDataset where facts.otherNames.count > 0:
      (
        "\(name) has a dataset that is not complete: \(lacking)",
        "Set the whole dataset of its network on \(name), as another of its border routers has it. Do not set "
          + "single parameters: what is left out is invented, or missing."
      )
    case .noDataset:
      (
        "\(name) announced itself without a dataset, so its credentials are not kept",
        "Let its publisher send `dataset` with the active operational dataset."
      )
    case .offline(let reason): offline(reason)
    case .lostNetwork(let isLast):
      (
        isLast
          ? "\(name) has lost its Thread network; \(configured) has no border router any more: its devices reach "
            + "nothing now"
          : "\(name) has lost its Thread network \(configured), on which other border routers are",
        adoption
          ?? "Give \(name) the credentials of \(configured) again: `threadkeeper credentials get \(agent) "
          + "--show-secrets\(homeOption)` shows what it had. Form no new network on it: the devices of "
          + "\(configured) cannot join it."
      )
    case .silentWithoutNetwork:
      (
        "\(name) has sent nothing since \(since); it had "
          + (facts.network == nil
            ? "no Thread network yet" : "lost its Thread network \(configured)"),
        "\(checkPublisher) What is to be done about its network, this alert says when it is back."
      )
    case .notSeen(let isStopped):
      (
        isStopped ? "Thread is stopped on \(name)" : "\(name) is not on the local network any more",
        (isStopped
          ? "Start Thread on \(name) in its own app or page."
          : "Check its power and its network connection.")
          + " If it is gone for good, run `threadkeeper routers remove \(agent)\(homeOption)`."
      )
    case .agentSilent(let reason):
      (
        "\(name) is on the local network, and its agent is silent"
          + (reason == .silent ? ": no heartbeat since \(since)" : ""),
        "Check that its publisher runs and reaches the broker (for example `threadkeeper agent otbr`)."
      )
    case .recordGone:
      (
        "\(name) does not answer on the local network any more, and its publisher sends no heartbeats",
        "Check its power and its network connection. Let its publisher send `heartbeat`, which shows "
          + "that it is there."
      )
    case .awayTogether(let routers, let all): awayTogether(routers, of: all)
    case .detached:
      (
        moving
          ?? "\(name) has Thread detached\(facts.since == nil ? "" : " since \(since)"): it is not connected "
          + "to \(configured)",
        adoption
          ?? ((facts.configured ?? facts.network)?.id == facts.preferred?.id
            ? "Check" : "If \(name) should be on \(configured), check")
          + " that another router of \(configured) is on and within radio range, and that "
          + "the dataset of \(name) is complete. If both are so, restart Thread on \(name)."
      )
    case .notAdvertised:
      (
        "\(name) works, but is not advertised on the local network: phones will not find it",
        "Look on its machine whether `avahi-browse --resolve --terminate _meshcop._udp` shows it, and restart its agent "
          + "(`systemctl restart otbr-agent`). If it is shown there, let the network pass multicast (VLANs, isolated "
          + "Wi-Fi clients, IGMP snooping). `threadkeeper doctor` names records that are not listed. If its network is "
          + "another one than threadkeeper's on purpose, nothing is to be done."
      )
    case .wellKnownKey:
      (
        "\(configured) uses a network key that is printed in public documentation",
        "Form a new network with a random key: with this one, anybody nearby can join and listen."
      )
    case .joined:
      (
        "\(name) has joined the preferred network \(preferredName) and was not there before",
        "If it is yours, run `threadkeeper routers accept \(agent)\(homeOption)`. If not, another "
          + "device may have the credentials of \(preferredName): find it, and give the network a new key."
      )
    case .wasReset(let isOnPreferred):
      (
        "\(list(facts.names)) was probably reset: it is now \(name)",
        "If it is the same, press \"Accept\" on the status page, or run `threadkeeper routers accept \(agent)"
          + "\(homeOption)`: it keeps its name. "
          + (isOnPreferred
            ? "If not, another device may have the credentials of \(preferredName): find it, and give the network "
              + "a new key."
            : "Then give it the credentials of \(preferredName) in its app.")
      )
    case .openForCode:
      (
        "\(name) lets others have the credentials of \(configured) by a code, which nobody has asked for here",
        "If somebody of yours has asked for it, in an app or at \(name), nothing is to be done: it ends by itself. "
          + "If not, restart \(name), which ends it, and find out who has: whoever used the code has the network key."
      )
    case .adoptionFailed(let state, let isConfigured): adoptionFailed(state, isConfigured)
    case .noPreferred(let isForgotten, let networks, let more):
      noPreferred(isForgotten, networks, networks.count + more)
    case .plaintext:
      (
        "\(user) sends network keys unsealed through the broker",
        "Enrol it with `threadkeeper clients enroll`, and let it seal what it sends. Until "
          + "then use TLS, an access list and no retained messages; a broker with persistence keeps "
          + "queued messages, keys included, in its own file."
      )
    case .keysDisputed(let claimed, let current, let departed, let hasDamage):
      disputed(claimed, current, departed, hasDamage)
    case .preferredChanged(let change, _): changed(change)
    case .movedTo(let routers, let all, let lost): moved(routers, of: all, lost: lost)
    case .preferredEmpty(let routers, let elsewhere): empty(routers, elsewhere)
    case .split(let named, let parts): split(named, parts)
    case .otherPreferred, .sharedPartial, .sharedOlder, .sharedConflict: shared()
    case .agentNotWorking(let trouble): agentNotWorking(trouble)
    case .daemon: (facts.names.first.first ?? "", facts.names.first.last ?? "")
    }
  }

  /// The names of what differs, which are no secrets.
  private var differing: String? {
    facts.differs.flatMap { $0.isEmpty ? nil : $0.words.joined(separator: ", ") }
  }

  private func conflict(with other: String) -> String {
    (differing.map { "it differs (\($0)) from \(other) of the same age, or " } ?? "")
      + "its timestamp is more than a year ahead"
  }

  // MARK: Where a router is

  private func elsewhere(_ isConfiguredForPreferred: Bool) -> (String, String) {
    var summary = "\(name) is on \(network) and configured for \(configured)"
    if !isConfiguredForPreferred, facts.network?.id != facts.preferred?.id {
      summary += "; the preferred network is \(preferredName)"
    }
    let remedy =
      adoption
      ?? (isConfiguredForPreferred
        ? "Disable and enable Thread on \(name), so that it joins \(configured)."
        : "Disable Thread on \(name), give it the credentials of \(preferredName), and enable "
          + "Thread again.")
    return (moving ?? summary, remedy)
  }

  /// While an order is carried out; nil: none is.
  private var moving: String? {
    facts.adoption == .agreed
      ? "\(name) is being moved to \(preferredName)" : nil
  }

  /// Of a router that runs on another network than it is configured for: OpenThread hands a dataset that is set on an
  /// attached router to the leader, for the whole network.
  var never: String {
    facts.configured == nil
      ? ""
      : " Do not set a dataset while Thread runs on \(name): that can move the other routers of \(network), too."
  }

  private var inReach: String {
    "Check that another router of \(preferredName) is on and within radio range of \(name)"
  }

  private var seeAdoptionFailed: String {
    "Do what the alert `\(AlertName.adoptionFailed.word)` says about \(name)."
  }

  /// While it is to be given the preferred credentials; nil: it is not.
  private var adoption: String? {
    switch facts.adoption {
    case .asked:
      "Decide whether \(name) gets the credentials of \(preferredName): `threadkeeper consent list` "
        + "shows the question."
    case .agreed, .sent:
      "A person has agreed: while it is online, \(name) is given the credentials of \(preferredName). If "
        + "that fails, another alert has the reason."
    case let state?: state.hasFailed ? seeAdoptionFailed : nil
    case nil: nil
    }
  }

  private func offline(_ reason: OfflineReason?) -> (String, String) {
    // Its agent stops Thread, and starts it again.
    if let moving, let adoption { return (moving, adoption) }
    return switch reason {
    case .stopped:
      (
        "Thread is stopped on \(name)",
        "Start Thread on \(name): `ot-ctl ifconfig up`, then `ot-ctl thread start`, or `enable` in its "
          + "app or page. If it is not to be a border router any more, let its publisher send `leave`."
      )
    case .unreachable:
      (
        "\(name) cannot be reached: nothing accepts connections there",
        "Check that its agent runs (`systemctl status otbr-agent`), then its power and its network "
          + "connection."
      )
    case .frozen:
      (
        "\(name) is frozen: it accepts connections and does not answer",
        "Restart its agent (`systemctl restart otbr-agent`); if that does not help, restart the "
          + "device."
      )
    case .untrusted:
      (
        "\(name) is not asked: a program of another user listens on its machine where its agent should",
        "Find that program on the machine of \(name) with `sudo ss -ltnp`, and stop it; then start the "
          + "agent (`systemctl restart otbr-agent`). If the agent runs as that user, give `threadkeeper "
          + "agent otbr` the user with `--router-user`."
      )
    case .noNetwork:
      (
        "\(name) has no Thread network yet",
        facts.preferred == nil
          ? "Form a Thread network in its own app or page: the first one becomes the preferred network."
          : adoption
            ?? "Give \(name) the credentials of \(preferredName) in its own app or page. With "
            + "`preferred.on_mismatch: adopt` and `threadkeeper agent otbr --adopt` you are asked whether it "
            + "gets them."
      )
    case .failing:
      (
        facts.httpStatus.map { "\(name) answers its agent with an error: HTTP status \($0)" }
          ?? "\(name) answers its agent, but not as the REST interface of a border router does",
        "Look at its log (`journalctl --unit otbr-agent`), and restart it (`systemctl restart otbr-agent`). If another "
          + "program answers there, give `threadkeeper agent otbr` the address of the router's REST interface."
      )
    case .silent:
      (
        "\(name) has sent no heartbeat since \(since)", checkPublisher
      )
    case nil: ("\(name) cannot be reached", "Check its power and its network connection.")
    }
  }

  private var checkPublisher: String {
    "Check that its publisher runs and reaches the broker (for example `threadkeeper agent otbr`), then the power "
      + "and the network connection of \(name)."
  }

  private func awayTogether(_ routers: Int, of all: Int) -> (String, String) {
    let others = all - routers
    return (
      "\(routers) border routers went away together and cannot be reached since \(since): "
        + list(facts.names)
        + (others == 0 ? "" : "; \(others == 1 ? "1 other is" : "\(others) others are") there"),
      "If the power is out, nothing is to be done: they come back by themselves, and one that stays away "
        + "gets an alert of its own. If not, check the network between them and this machine: its switch, "
        + "its access point."
    )
  }

  // MARK: Adoption

  private var askAgain: String {
    "To be asked again, press \"Ask again\" in Home Assistant or on the status page, or run "
      + "`threadkeeper consent ask \(agent)\(homeOption)`."
  }

  private var byHand: String {
    "give \(name) the credentials of \(preferredName) in its own app or page"
  }

  private var logOfAgent: String {
    "The log of its agent names the step: `journalctl -u threadkeeper-agent-otbr`."
  }

  private func adoptionFailed(_ state: AdoptionState, _ isConfigured: Bool) -> (String, String) {
    let credentials = "the credentials of \(preferredName)"
    return switch state {
    case .due, .asked, .agreed, .sent: ("", "")
    case .notEnrolled:
      (
        "\(name) cannot be given \(credentials): nothing can be sealed for its login \(user)",
        "Make a key with `threadkeeper client keygen` where \(name) is published from, and enrol "
          + "it with `threadkeeper clients enroll \(login) LINE`; then a person is asked."
      )
    case .damagedKeys:
      (
        "\(name) cannot be given \(credentials): the stored keys of its login "
          + "\(user), or the daemon's own, cannot be read",
        "Look at `threadkeeper store verify`; enrol \(user) again with `threadkeeper clients enroll`, or "
          + "restore a backup of the store. Then a person is asked."
      )
    case .damagedCredentials:
      (
        "\(name) cannot be given \(credentials): what is stored of them is damaged",
        "Restore a backup of the store, or choose the network again with `threadkeeper preferred "
          + "set`. \(askAgain)"
      )
    case .denied:
      (
        "a person has refused to give \(name) \(credentials)",
        "If \(name) should be on \(network), leave it there; else \(byHand). \(askAgain)"
      )
    case .expired:
      (
        "nobody has decided whether \(name) gets \(credentials)",
        "\(askAgain) Then decide with `threadkeeper consent list` within "
          + "\(ConsentQuestion.timeout) seconds, or \(byHand)."
      )
    case .timeout where isConfigured:
      (
        "\(name) has \(credentials) that it was sent, and is not attached to it",
        "\(inReach), then disable and enable Thread on \(name)."
      )
    case .timeout:
      (
        "\(name) was sent \(credentials) and has not said that it uses them",
        "Check that its script listens on `out/\(user)/dataset/set`, sets the dataset and "
          + "announces it, or \(byHand). \(askAgain)"
      )
    case .disagreement:
      (
        "\(name) was sent \(credentials) and says that it uses others",
        "Find out what keeps \(name) on \(network), or \(byHand). \(askAgain)"
      )
    case .pendingChange:
      (
        "\(name) was not given \(credentials): another change of its network was "
          + "pending for as long as they could wait",
        "\(askAgain) Do so once that change has taken effect."
      )
    case .refused:
      (
        "\(name) was not given \(credentials): it has refused a step", "\(logOfAgent) \(askAgain)"
      )
    case .noAnswer:
      (
        "\(name) was not given \(credentials): it did not answer a step",
        "Check that \(name) is on and its Thread runs. \(logOfAgent) \(askAgain)"
      )
    case .notAttached:
      (
        "\(name) was given \(credentials), and was not attached in time",
        "\(inReach). \(askAgain)"
      )
    }
  }

  // MARK: What a login's programs do

  private func agentNotWorking(_ trouble: String?) -> (String, String) {
    let name = facts.names.first.first.flatMap { ShownName.quoted($0, longest: 64) } ?? ""
    let more = facts.names.count - 1
    let others = more > 0 ? "; \(more) more of this login cannot either" : ""
    let last = facts.since == nil ? "it has never worked" : "it worked last at \(since)"
    let gone =
      " If this login is not used any more, run `threadkeeper clients revoke \(login) --forget\(homeOption)`."
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

  // MARK: What a login shares

  /// What people call the sender is its own word, and the login was checked.
  private func shared() -> (String, String) {
    let account = "login \(user)"
    let name = facts.names.first.first
    let (sender, short) = (name.map { "\($0) (\(account))" } ?? account, name ?? account)
    let id = facts.preferred?.id.description ?? ""
    let write = "start its agent with `--write`, which does so once you have agreed"
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
        "\(sender) prefers network \(theirs), this home prefers \(ours)",
        "To use \(network) here, too, run `threadkeeper preferred set \(other)\(homeOption)`. To use "
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
          + "(Thread; make another one preferred there first), and send the credentials from a phone again. "
          + gone(id)
      )
    }
  }

  // MARK: The home

  private func noPreferred(
    _ isForgotten: Bool, _ seen: [AlertFacts.Named], _ count: Int
  ) -> (String, String) {
    var summary =
      isForgotten
      ? "no network is preferred, because a person has forgotten the last one"
      : "no network is preferred, so no router can be checked"
    if count > 1 {
      let more = count > seen.count ? " and \(count - seen.count) more" : ""
      summary +=
        "; border routers are on \(count) networks: \(seen.map(\.shown).joined(separator: ", "))\(more)"
    }
    let wanted = facts.user == nil ? nil : facts.network
    if let wanted {
      summary +=
        count > 1
        ? ", none is on \(wanted.shown), which login \(user) prefers"
        : "; no border router is on \(wanted.shown), which login \(user) prefers; they are on "
          + seen.map(\.shown).joined()
    }
    var remedy: String
    if seen.isEmpty {
      remedy =
        isForgotten
        ? "Choose one with `threadkeeper preferred set NETWORK\(homeOption)`"
        : "Announce a border router with its dataset: the first network becomes preferred"
    } else {
      remedy =
        "Choose the network that is yours: "
        + (seen + [wanted].compactMap(\.self))
        .map { "`threadkeeper preferred set \($0.id)\(homeOption)` for \($0.shown)" }
        .joined(separator: ", ")
    }
    if isForgotten {
      remedy +=
        "; `threadkeeper preferred show --history\(homeOption)` lists those that were preferred"
    } else if count > seen.count {
      remedy += "; `threadkeeper networks` lists all"
    }
    return (summary, remedy + ".")
  }

  private func disputed(
    _ claimed: UInt64?, _ current: UInt64?, _ departed: AlertFacts.Names, _ hasDamage: Bool
  ) -> (String, String) {
    func timestamp(_ seconds: UInt64?) -> String { seconds.map { String($0) } ?? "unknown" }
    let (claimants, others) = (facts.names, facts.otherNames)
    var summary =
      "\(list(claimants)) \(claimants.count == 1 ? "reports" : "report") other keys of "
      + "\(preferredName) (timestamp \(timestamp(claimed))) than the preferred "
      + "network has (timestamp \(timestamp(current)))"
    if others.count > 0 {
      summary += ", which \(list(others)) \(others.count == 1 ? "uses" : "use")"
    } else if claimants.count > 1 {
      summary += ", and they do not agree"
    }
    if departed.count > 0 {
      summary +=
        "; \(list(departed)) had the current ones less than 30 days ago"
    }
    if hasDamage {
      summary += "; some stored credentials are damaged, so their keys are not known"
    }
    return (
      summary,
      "To keep the current keys, run `threadkeeper preferred set \(PreferredNetwork.currentID)\(homeOption)`, "
        + "or press \"Keep the current keys\" in Home Assistant or on the status page; then give "
        + "\(list(claimants)) the current dataset of \(preferredName). Only if the keys of \(name) are right, run "
        + "`threadkeeper preferred set \(facts.preferred?.id.description ?? "") --router \(agent)\(homeOption)`."
    )
  }

  private func changed(_ change: PreferredChange) -> (String, String) {
    let name = change.to.shown
    var summary: String
    if change.bringsCredentials {
      summary = "the credentials of the preferred network \(name) are here now"
    } else if change.to.id != change.from.id {
      summary = "\(name) is the preferred network now, instead of \(change.from.shown)"
    } else if change.hasNewKeys {
      summary = "the preferred network \(name) has new keys"
    } else {
      let steps = change.differs.parameters.map { step($0, of: change) }
      summary =
        "the preferred network \(name) has other parameters (\(steps.joined(separator: ", ")))"
    }
    summary +=
      ": "
      + reason(change, who: change.who ?? "a border router")
    let others = facts.names
    if others.count > 0 {
      summary += ", and \(list(others)) \(others.count == 1 ? "has" : "have") others"
    }
    let isConfirmed = !change.hasNewKeys || change.cause == .person
    let confirm =
      isConfirmed
      ? ""
      : "If the new keys are right, confirm them with `threadkeeper preferred set "
        + "\(PreferredNetwork.currentID)\(homeOption)`; until then each question about them names this change. "
    let ways =
      if !change.hasNewKeys, !change.bringsCredentials {
        // The daemon would prefer what no router uses.
        "set the former parameters on a border router, with a later active timestamp: the others follow"
      } else if let former = change.formerID {
        "go back with `threadkeeper preferred set \(FormerNetwork.text(of: former))\(homeOption)`"
      } else {
        "choose another one with `threadkeeper preferred set`"
      }
    return (summary, "\(confirm)If this is not what you want, \(ways).")
  }

  /// A parameter, from what to what it was changed where that is no secret.
  private func step(_ parameter: DatasetParameter, of change: PreferredChange) -> String {
    let word = parameter.rawValue
    switch parameter {
    case .networkName:
      let names = [change.from, change.to].map {
        ShownName.named($0.name, "none", needsID: false)
      }
      return "\(word) from \(names[0]) to \(names[1])"
    case .channel, .panID:
      guard let from = change.fromRadio, let to = change.toRadio else { return word }
      return parameter == .channel
        ? "\(word) from \(from.channel) to \(to.channel)"
        : "\(word) from \(hexadecimal(from.panID)) to \(hexadecimal(to.panID))"
    default: return word
    }
  }

  private func hexadecimal(_ number: UInt16) -> String {
    "0x" + withUnsafeBytes(of: number.bigEndian) { Hexadecimal.encode($0) }
  }

  private func reason(_ change: PreferredChange, who: String) -> String {
    switch change.cause {
    case .first, .sameKeys: facts.user == nil ? "\(who) reports them" : "login \(user) shares them"
    case .onlyMember: "\(who), its only border router, reports them, and nobody else confirms them"
    case .confirmed:
      "\(who) and \(change.second ?? "another border router") report them"
    case .shared: "login \(user), which `home_assistant.trusted` names, shares them"
    case .owner:
      "a program on this machine, whose team has a border router on the network, has stored or chosen it"
    // Not a name that anybody has chosen.
    case .person: "a person has chosen it (\(change.who ?? "nobody"))"
    }
  }

  private func empty(_ routers: Int, _ elsewhere: Int) -> (String, String) {
    let id = facts.network?.id.description ?? ""
    let (place, home) = (facts.network?.shown ?? id, preferredName)
    return (
      "no border router is on the preferred network \(home); \(routers) \(routers == 1 ? "is" : "are") on "
        + place + (elsewhere == 0 ? "" : ", \(elsewhere) on others"),
      "If \(place) is your network, run `threadkeeper preferred set \(id)\(homeOption)`. If \(home) is, give "
        + "the border routers its credentials in the apps of their makers. If they are on another one on "
        + "purpose, run `threadkeeper networks accept \(id)\(homeOption)`."
    )
  }

  private func moved(_ routers: Int, of all: Int, lost: Int) -> (String, String) {
    let id = facts.network?.id.description ?? ""
    let (place, home) = (facts.network?.shown ?? id, preferredName)
    let users = facts.otherNames
    let reported =
      users.count == 0
      ? ""
      : ", as login\(users.count == 1 ? "" : "s") \(list(users)) "
        + "\(users.count == 1 ? "reports" : "report")"
    let rest = all - routers
    let count = rest == 0 ? "all \(routers)" : "\(routers) of \(all)"
    let others = rest == 1 ? "the other" : "the others"
    let unreached = lost == rest ? others : "\(lost) of the others"
    return (
      "\(count) border routers of the preferred network \(home) are on \(place) now"
        + (facts.names.count == 0 ? "" : ": \(list(facts.names))") + reported
        + (rest == lost ? "" : "; \(others) \(rest == 1 ? "is" : "are") not")
        + (lost == 0
          ? "" : "\(rest == lost ? "; \(others)" : ", and \(lost) of them") cannot be reached"),
      (lost == 0 ? "" : "Check first why \(unreached) cannot be reached. ")
        + "If the home has moved to \(place), run `threadkeeper preferred set \(id)\(homeOption)`. If "
        + "not, give the border routers the credentials of \(home)."
    )
  }

  private func split(_ named: [AlertFacts.Names], _ parts: Int) -> (String, String) {
    let network = facts.network?.shown ?? ""
    let shown = named.map { part in
      let more = part.count - part.first.count
      return part.first.joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
    }
    let others = facts.otherNames
    let it = others.count == 1 ? "it" : "they"
    return (
      "\(network) is split into \(parts) parts that do not reach each other by radio: "
        + shown.joined(separator: " | ")
        + (others.count == 0
          ? "" : "; nobody has accepted \(list(others)), so \(it) may have another key"),
      (others.count == 0
        ? ""
        : "Find out first whether \(list(others)) \(others.count == 1 ? "is" : "are") yours, and "
          + "whether \(it) got the credentials of \(network): with another key \(it) never join"
          + "\(others.count == 1 ? "s" : ""). ")
        + "Check that each border router is within radio range of another one or of a mains-powered "
        + "Thread device, and restart those that are alone. The parts join by themselves when they "
        + "reach each other."
    )
  }
}
