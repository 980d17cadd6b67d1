import Broker
import Home

/// Whether a router can be reached, is attached, and is known.
extension AlertSentences {
  func offline(_ reason: OfflineReason?) -> (String, String) {
    // Its agent stops Thread, and starts it again.
    if let moving, let adoption { return (moving, adoption) }
    return switch reason {
    case .stopped:
      (
        "Thread is stopped on \(name)",
        "Start Thread on \(name): `sudo ot-ctl ifconfig up`, then `sudo ot-ctl thread start`, or `enable` in "
          + "its app or page. If it is not to be a border router any more, let its publisher send `leave`."
      )
    case .unreachable:
      (
        "\(name) cannot be reached: nothing accepts connections there",
        "Check that its agent runs (`systemctl status otbr-agent`), then its power and its network connection." + gone
      )
    case .frozen:
      (
        "\(name) is frozen: it accepts connections and does not answer",
        "Restart its agent (`systemctl restart otbr-agent`); if that does not help, restart the " + "device."
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
          ? "Form a Thread network \(inItsApp): the first one becomes the preferred network."
          : adoption ?? "Give \(name) the credentials of \(preferredName) \(inItsApp). With "
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
    case .silent: ("\(name) has sent no heartbeat since \(since)", checkPublisher + gone)
    case nil: ("\(name) cannot be reached", "Check its power and its network connection." + gone)
    }
  }

  /// Of a router that nothing is seen of.
  var gone: String { " If it is gone for good, \(run("routers remove \(agent)\(homeOption)", or: "Forget"))." }

  var checkPublisher: String {
    "Check that its publisher runs and reaches the broker (for example `threadkeeper agent otbr`), then the power "
      + "and the network connection of \(name)."
  }

  func lostNetwork(isLast: Bool) -> (String, String) {
    (
      isLast
        ? "\(name) has lost its Thread network; \(configured) has no border router any more: its devices reach "
          + "nothing now" : "\(name) has lost its Thread network \(configured), on which other border routers are",
      adoption ?? "Give \(name) the credentials of \(configured) again: `threadkeeper credentials get \(agent) "
        + "--show-secrets\(homeOption)` shows what it had. Form no new network on it: the devices of "
        + "\(configured) cannot join it."
    )
  }

  var silentWithoutNetwork: (String, String) {
    (
      "\(name) has sent nothing since \(since); it had "
        + (facts.network == nil ? "no Thread network yet" : "lost its Thread network \(configured)"),
      "\(checkPublisher) When it is back, this alert says what to do about its network.\(gone)"
    )
  }

  func notSeen(isStopped: Bool) -> (String, String) {
    (
      isStopped ? "Thread is stopped on \(name)" : "\(name) is not on the local network any more",
      (isStopped ? "Start Thread on \(name) \(inItsApp)." : "Check its power and its network connection.") + gone
    )
  }

  func agentSilent(_ reason: OfflineReason?) -> (String, String) {
    (
      "\(name) is on the local network, and its agent is silent"
        + (reason == .silent ? ": no heartbeat since \(since)" : ""),
      "Check that its publisher runs and reaches the broker (for example `threadkeeper agent otbr`)."
    )
  }

  var recordGone: (String, String) {
    (
      "\(name) does not answer on the local network any more, and its publisher sends no heartbeats",
      "Check its power and its network connection. Let its publisher send `heartbeat`, which shows "
        + "that it is there.\(gone)"
    )
  }

  func awayTogether(_ routers: Int, of all: Int) -> (String, String) {
    // The card on the page has since when.
    let since = ways.isOnPage ? "" : " since \(since)"
    return (
      routers == all
        ? "none of your \(all) border routers can be seen\(since): power cut, Wi-Fi, or this machine's network?"
        : "\(routers) of \(all) border routers went away together\(since): \(list(facts.names))",
      "If the power is out, nothing is to be done: they come back by themselves, and one that stays away "
        + "gets an alert of its own. If not, check the network between them and this machine: its switch, "
        + "its access point."
    )
  }

  var detached: (String, String) {
    (
      moving ?? "\(name) has Thread detached\(facts.since == nil ? "" : " since \(since)"): it is not connected "
        + "to \(configured)",
      adoption
        ?? ((facts.configured ?? facts.network)?.id == facts.preferred?.id
          ? "Check" : "If \(name) should be on \(configured), check")
        + " that another router of \(configured) is on and within radio range, and that "
        + "the dataset of \(name) is complete. If both are so, restart Thread on \(name)."
    )
  }

  var notAdvertised: (String, String) {
    (
      "\(name) works, but is not advertised on the local network: phones will not find it",
      "Look on its machine whether `avahi-browse --resolve --terminate _meshcop._udp` shows it, and restart its agent "
        + "(`systemctl restart otbr-agent`). If it is shown there, let the network pass multicast (VLANs, isolated "
        + "Wi-Fi clients, IGMP snooping). `threadkeeper doctor` names records that are not listed. If its network is "
        + "another one than threadkeeper's on purpose, nothing is to be done."
    )
  }

  // MARK: Routers that nobody knows

  var joined: (String, String) {
    (
      "\(name) has joined the preferred network \(preferredName) and was not there before",
      "If it is yours, \(run("routers accept \(agent)\(homeOption)", or: "Accept")). If not, another "
        + "device may have the credentials of \(preferredName): find it, and give the network a new key."
    )
  }

  func wasReset(isOnPreferred: Bool) -> (String, String) {
    (
      "\(list(facts.names)) was probably reset: it is now \(name)",
      "If it is the same, \(ways.isOnPage ? "" : "press \"Accept\" on the status page, or ")"
        + run("routers accept \(agent)\(homeOption)", or: "Accept") + ": it keeps its name. "
        + (isOnPreferred
          ? "If not, another device may have the credentials of \(preferredName): find it, and give the network "
            + "a new key." : "Then give it the credentials of \(preferredName) \(app ?? "in its app").")
    )
  }

  var openForCode: (String, String) {
    (
      "\(name) lets others have the credentials of \(configured) by a code, which nobody has asked for here",
      "If somebody of yours has asked for it, in an app or at \(name), nothing is to be done: it ends by itself. "
        + "If not, restart \(name), which ends it, and find out who has: whoever used the code has the network key."
    )
  }
}
