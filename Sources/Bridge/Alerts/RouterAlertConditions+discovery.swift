// SPDX-License-Identifier: Apache-2.0

import Broker

/// Alerts about routers of which only the local network says something.
extension RouterAlertConditions {
  /// Whether only its record says on which network it is, and it was never seen on the preferred one.
  var isNeverMember: Bool {
    isOnlySeen && router.memberOf != preferred?.extendedPANID
  }

  /// Whether it may go without a word: a guest's hub, or a speaker on a network of its own.
  var isVisitor: Bool { isOnlySeen && router.memberOf == nil }

  private var isOnlySeen: Bool { router.source == .mdns && router.credential == .missing }

  var neverMember: AlertFacts {
    var facts = facts(
      "\(name) is on \(network), and has never been on the preferred network \(preferredName)",
      "If that is on purpose, run `threadkeeper networks accept \(networkID)\(homeOption)`. If not, give "
        + "\(name) the credentials of \(preferredName) in its own app or page.",
      differs: [.extendedPANID])
    facts.reason = AlertName.neverMember
    return facts
  }

  /// It has the keys of the preferred network, and was not there before.
  var unknown: AlertFacts {
    facts(
      "\(name) has joined the preferred network \(preferredName) and was not there before",
      "If it is yours, run `threadkeeper routers accept \(router.agent)\(homeOption)`. If not, another "
        + "device may have the credentials of \(preferredName): find it, and give the network a new key."
    )
  }

  /// A router that was on the preferred network is not advertised any more, or says that its Thread is off.
  var notSeen: AlertFacts {
    let isStopped = router.offlineReason == .stopped
    var facts = facts(
      isStopped
        ? "Thread is stopped on \(name)"
        : "\(name) is not on the local network any more",
      (isStopped
        ? "Start Thread on \(name) in its own app or page."
        : "Check its power and its network connection.")
        + " If it is gone for good, run `threadkeeper routers remove \(router.agent)\(homeOption)`."
    )
    facts.reason = router.offlineReason?.rawValue
    return facts
  }

  /// Its login publishes nothing any more, and its record is on the local network.
  var agentSilent: AlertFacts {
    var facts = facts(
      "\(name) is on the local network, and its agent is silent"
        + (router.offlineReason == .silent ? ": no heartbeat since \(router.lastSeen)" : ""),
      "Check that its publisher runs and reaches the broker (for example `threadkeeper agent otbr`)."
    )
    facts.reason = router.offlineReason?.rawValue
    return facts
  }

  /// Its login sends no heartbeats, so nothing else would say that it is off.
  var recordGone: AlertFacts {
    facts(
      "\(name) does not answer on the local network any more, and its publisher sends no heartbeats",
      "Check its power and its network connection. Let its publisher send `heartbeat`, which shows "
        + "that it is there.")
  }

  private var networkID: String { router.network?.description ?? "" }
}
