import Broker
import Home
import ThreadDataset
import ThreadkeeperSupport
import Wire

/// Where a router is, which dataset it has, and how it is given another one.
extension AlertSentences {
  // MARK: Where it is

  func elsewhere(_ isConfiguredForPreferred: Bool) -> (String, String) {
    var summary = "\(name) is on \(network) and configured for \(configured)"
    if !isConfiguredForPreferred, facts.network?.id != facts.preferred?.id {
      summary += "; the preferred network is \(preferredName)"
    }
    let remedy =
      adoption
      ?? (isConfiguredForPreferred
        ? "Disable and enable Thread on \(name), so that it joins \(configured)."
        : "Disable Thread on \(name), remove a change that is pending there (`sudo ot-ctl dataset clear`, "
          + "then `sudo ot-ctl dataset commit pending`), give it the credentials of \(preferredName), and "
          + "enable Thread again.")
    return (moving ?? summary, remedy)
  }

  var notAttached: (String, String) {
    (
      moving ?? "\(name) was given the credentials of \(preferredName) and is not attached to it",
      adoption ?? "\(inReach). If it is not attached in time, another alert has the remedy."
    )
  }

  var neverMember: (String, String) {
    (
      "\(name) is on \(network), and has never been on the preferred network \(preferredName)",
      (facts.looksPreferred
        ? "Find out whose network this is: it has the name of yours, and its devices are not on yours. " : "")
        + "If that is on purpose, \(fineThere). If not, give \(name) the credentials of \(preferredName) \(inItsApp)."
    )
  }

  var otherNetwork: (String, String) {
    (
      moving ?? "\(name) is on \(network), not on the preferred network \(preferredName)",
      adoption ?? "Give \(name) the credentials of \(preferredName) \(inItsApp). If it should stay on \(network), "
        + "\(fineThere). If all should be there, "
        + run("preferred set \(facts.network?.id.description ?? "")\(homeOption)", or: "Prefer") + "."
    )
  }

  /// Ends the alert about the router where it is.
  var fineThere: String {
    run("networks accept \(facts.network?.id.description ?? "")\(homeOption)", or: "It's fine there")
  }

  var otherCredentials: (String, String) {
    (
      moving ?? "\(name) has other credentials for the preferred network \(preferredName)",
      adoption ?? "Give \(name) the current credentials of \(preferredName), or let a router that was on it "
        + "before bring the new ones."
    )
  }

  // MARK: Its dataset

  var behind: (String, String) {
    (
      "\(name) still uses an older dataset of the preferred network \(preferredName)",
      adoption ?? "If \(name) is online and does not follow within minutes, give it the current dataset while Thread "
        + "is disabled there: from another channel it cannot follow by itself."
    )
  }

  var reportsOlder: (String, String) {
    (
      "\(name) reported an older dataset of \(configured) than it had before",
      adoption ?? "Check whether \(name) was restored or reset; give it the current dataset of \(configured)."
    )
  }

  var sameAge: (String, String) {
    (
      "\(name) and the preferred network \(preferredName) have datasets of the same age that differ"
        + (differing.map { " (\($0))" } ?? ""),
      "While Thread is disabled on \(name), give it that of \(preferredName); if its own is the right one, set "
        + "that with a later active timestamp instead."
    )
  }

  var reportsConflict: (String, String) {
    (
      "\(name) reported a dataset of \(configured) that is not taken: \(conflict(with: "the stored one"))",
      "Set the right dataset on \(name) with a later active timestamp. If its timestamp is far ahead and "
        + "it is the right one, run `threadkeeper preferred set` with it."
    )
  }

  var reportsDiffer: (String, String) {
    (
      "\(name) has itself another dataset than login \(user) reports for it" + (differing.map { " (\($0))" } ?? ""),
      "Restart the agent of login \(user) for \(name), then \(run("routers read \(agent)", or: "Read now")), which "
        + "compares them again. If they still differ, find out who else has this login, or answers for \(name) on the local "
        + "network."
    )
  }

  var noDataset: (String, String) {
    if facts.otherNames.count > 0 {
      (
        "\(name) has a dataset that is not complete: \(lacking)",
        "Set the whole dataset of its network on \(name), as another of its border routers has it. Do not set "
          + "single parameters: what is left out is invented, or missing."
      )
    } else {
      (
        "\(name) announced itself without a dataset, so its credentials are not kept",
        "Let its publisher send `dataset` with the active operational dataset."
      )
    }
  }

  var wellKnownKey: (String, String) {
    (
      "\(configured) uses a network key that is printed in public documentation",
      "Form a new network with a random key: with this one, anybody nearby can join and listen."
    )
  }

  // MARK: Adoption

  /// While an order is carried out; nil: none is.
  var moving: String? { facts.adoption == .agreed ? "\(name) is being moved to \(preferredName)" : nil }

  /// While it is to be given the preferred credentials; nil: it is not.
  var adoption: String? {
    switch facts.adoption {
    case .asked:
      "Decide whether \(name) gets the credentials of \(preferredName): "
        + (ways.isOnPage ? "the question is on this page." : "`threadkeeper consent list` shows the question.")
    case .agreed, .sent:
      "A person has agreed: while it is online, \(name) is given the credentials of \(preferredName). If "
        + "that fails, another alert has the reason."
    case let state?: state.hasFailed ? seeAdoptionFailed : nil
    case nil: nil
    }
  }

  var inReach: String { "Check that another router of \(preferredName) is on and within radio range of \(name)" }

  var seeAdoptionFailed: String {
    let other = ways.isOnPage ? "other alert" : "alert `\(AlertName.adoptionFailed.word)`"
    return "Do what the \(other) says about \(name)."
  }

  var askAgain: String {
    "To be asked again, \(press("Ask again").map { "\($0), or " } ?? "")"
      + run("consent ask \(agent)\(homeOption)", or: "Ask again") + "."
  }

  var byHand: String { "give \(name) the credentials of \(preferredName) \(inItsApp)" }

  var logOfAgent: String { "The log of its agent names the step: `journalctl -u threadkeeper-agent-otbr`." }

  func adoptionFailed(_ state: AdoptionState, _ isConfigured: Bool) -> (String, String) {
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
        "Restore a backup of the store, or choose the network again with `threadkeeper preferred " + "set`. \(askAgain)"
      )
    case .denied:
      (
        "a person has refused to give \(name) \(credentials)",
        (facts.hasNoNetwork
          ? "If \(name) should be on \(preferredName), "
          : "If \(name) should be on \(network), \(facts.acceptable == nil ? "leave it there" : fineThere); else ")
          + "\(byHand). \(askAgain)"
      )
    case .expired:
      (
        "nobody has decided whether \(name) gets \(credentials)",
        "\(askAgain) Then decide \(ways.isOnPage ? "here" : "with `threadkeeper consent list`") within "
          + "\(ConsentQuestion.timeout) seconds, or \(byHand)."
      )
    case .timeout where isConfigured:
      (
        "\(name) has \(credentials) that it was sent, and is not attached to it",
        "\(inReach), then disable and enable Thread on \(name). \(askAgain)"
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
          + "pending for as long as they could wait", "\(askAgain) Do so once that change has taken effect."
      )
    case .refused: ("\(name) was not given \(credentials): it has refused a step", "\(logOfAgent) \(askAgain)")
    case .noAnswer:
      (
        "\(name) was not given \(credentials): it did not answer a step",
        "Check that \(name) is on and its Thread runs. \(logOfAgent) \(askAgain)"
      )
    case .notAttached: ("\(name) was given \(credentials), and was not attached in time", "\(inReach). \(askAgain)")
    }
  }
}
