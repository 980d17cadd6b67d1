// SPDX-License-Identifier: Apache-2.0

import Broker
import ConsentLedger
import ThreadkeeperSupport

/// Why a router does not get the preferred credentials, and what to do.
extension RouterAlertConditions {
  var adoptionFailed: AlertFacts? {
    guard let state = router.adoption, let (summary, remedy) = words(state) else { return nil }
    var facts = facts(summary, remedy)
    facts.reason = state.rawValue
    facts.user = login
    return facts
  }

  private var login: String { addressee ?? router.user }

  private var shownLogin: String { ShownName.account(login) }

  /// For a command, which a shell reads.
  private var loginArgument: String { shownLogin == login ? login : "LOGIN" }

  private var askAgain: String {
    "To be asked again, press \"Ask again\" in Home Assistant or on the status page, or run "
      + "`threadkeeper consent ask \(router.agent)\(homeOption)`."
  }

  private var byHand: String {
    "give \(name) the credentials of \(preferredName) in its own app or page"
  }

  private var logOfAgent: String {
    "The log of its agent names the step: `journalctl -u threadkeeper-agent-otbr`."
  }

  private func words(_ state: AdoptionState) -> (summary: String, remedy: String)? {
    switch state {
    case .due, .asked, .agreed, .sent: nil
    case .notEnrolled:
      (
        "\(name) cannot be given the credentials of \(preferredName): nothing can be sealed for "
          + "its login \(shownLogin)",
        "Make a key with `threadkeeper client keygen` where \(name) is published from, and enrol "
          + "it with `threadkeeper clients enroll \(loginArgument) LINE`; then a person is asked."
      )
    case .damagedKeys:
      (
        "\(name) cannot be given the credentials of \(preferredName): the stored keys of its login "
          + "\(shownLogin), or the daemon's own, cannot be read",
        "Look at `threadkeeper store verify`; enrol \(shownLogin) again with `threadkeeper clients enroll`, or "
          + "restore a backup of the store. Then a person is asked."
      )
    case .denied:
      (
        "a person has refused to give \(name) the credentials of \(preferredName)",
        "If \(name) should be on \(network), nothing is to be done; else \(byHand). \(askAgain)"
      )
    case .expired:
      (
        "nobody has decided whether \(name) gets the credentials of \(preferredName)",
        "\(askAgain) Then decide with `threadkeeper consent list` within "
          + "\(PendingConsent.timeout / 1_000) seconds, or \(byHand)."
      )
    case .timeout where isConfiguredForPreferred:
      (
        "\(name) has the credentials of \(preferredName) that it was sent, and is not attached to it",
        "Check that another router of \(preferredName) is on and within radio range of \(name), then "
          + "disable and enable Thread on \(name)."
      )
    case .timeout:
      (
        "\(name) was sent the credentials of \(preferredName) and has not said that it uses them",
        "Check that its script listens on `out/\(shownLogin)/dataset/set`, sets the dataset and "
          + "announces it, or \(byHand). \(askAgain)"
      )
    case .disagreement:
      (
        "\(name) was sent the credentials of \(preferredName) and says that it uses others",
        "Find out what keeps \(name) on \(network), or \(byHand). \(askAgain)"
      )
    case .pendingChange:
      (
        "\(name) was not given the credentials of \(preferredName): another change of its network was "
          + "pending for as long as they could wait",
        "Wait until that change has taken effect. \(askAgain)"
      )
    case .refused:
      (
        "\(name) was not given the credentials of \(preferredName): it has refused a step",
        "\(logOfAgent) \(askAgain)"
      )
    case .noAnswer:
      (
        "\(name) was not given the credentials of \(preferredName): it did not answer a step",
        "Check that \(name) is on and its Thread runs. \(logOfAgent) \(askAgain)"
      )
    case .notAttached:
      (
        "\(name) was given the credentials of \(preferredName), and was not attached in time",
        "Check that another router of \(preferredName) is on and within radio range of \(name). "
          + "\(askAgain)"
      )
    }
  }
}
