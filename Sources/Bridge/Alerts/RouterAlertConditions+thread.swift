// SPDX-License-Identifier: Apache-2.0

import Broker
import ThreadDataset

/// Alerts about where a router runs, whether it is attached, and why it is offline.
extension RouterAlertConditions {
  /// It is configured for one network and runs on another.
  func elsewhere(_ names: [DatasetParameter]) -> AlertFacts {
    var summary = "\(name) is on \(network) and configured for \(configuredNetwork)"
    if !isConfiguredForPreferred, router.currentNetwork != preferred?.extendedPANID {
      summary += "; the preferred network is \(preferredName)"
    }
    var facts = facts(
      summary,
      adoptionRemedy
        ?? (isConfiguredForPreferred
          ? "Disable and enable Thread on \(name), so that it joins \(configuredNetwork). "
            + "\(neverWhileRunning)"
          : "Disable Thread on \(name), give it the credentials of \(preferredName), and enable "
            + "Thread again. \(neverWhileRunning)"),
      differs: names)
    facts.networkName = currentName
    facts.extendedPANID = router.currentNetwork?.description
    return facts
  }

  var isConfiguredForPreferred: Bool {
    dataset?.extendedPANID != nil && dataset?.extendedPANID == preferred?.extendedPANID
  }

  /// It has the preferred credentials that it was sent, and is not on the network yet.
  var notAttached: AlertFacts {
    facts(
      "\(name) was given the credentials of \(preferredName) and is not attached to it",
      "Wait a minute: \(name) looks for \(preferredName). If it stays detached, check that another "
        + "router of \(preferredName) is on and within radio range.")
  }

  /// While it is being given the preferred credentials; nil: it is not.
  var adoptionRemedy: String? {
    switch router.adoption {
    case .asked:
      "Decide whether \(name) gets the credentials of \(preferredName): `threadkeeper consent list` "
        + "shows the question."
    case .agreed, .sent:
      "Nothing is to be done now: a person has agreed, and giving \(name) the credentials of "
        + "\(preferredName) is under way. If that fails, another alert says why."
    default: nil
    }
  }

  /// OpenThread hands a dataset that is set on an attached router to the leader, for the whole network.
  private var neverWhileRunning: String {
    "Do not set a dataset while Thread runs on it: that can move the other routers of \(network), too."
  }

  var detached: AlertFacts {
    let since = router.threadStateSince.map { " since \($0)" } ?? ""
    return facts(
      "\(name) has Thread detached\(since): it is not connected to \(configuredNetwork)",
      "Check that another router of \(configuredNetwork) is on and within radio range, and that "
        + "the dataset of \(name) is complete. If both are so, restart Thread on \(name).")
  }

  var offline: AlertFacts {
    if router.source == .mdns { return notSeen }
    if router.isAgentSilent, router.isAdvertised { return agentSilent }
    let (summary, remedy) =
      switch router.offlineReason {
      case .stopped:
        (
          "Thread is stopped on \(name)",
          "Start Thread on \(name): `ot-ctl thread start`, or `enable` in its app or page. If it is "
            + "not to be a border router any more, let its publisher send `leave`."
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
      case .silent:
        (
          "\(name) has sent no heartbeat since \(router.lastSeen)",
          "Check that its publisher runs and reaches the broker (for example `threadkeeper "
            + "agent otbr`), then the power and the network connection of \(name)."
        )
      case nil:
        ("\(name) cannot be reached", "Check its power and its network connection.")
      }
    var facts = facts(summary, remedy)
    facts.reason = router.offlineReason?.rawValue
    return facts
  }
}
