// SPDX-License-Identifier: Apache-2.0

import StatusPage

/// What the page shows. Nothing secret has a place here, and nothing that changes by itself.
struct PageState: Encodable {
  struct Part: Encodable {
    /// `broker`, `intake`, `store`, `discovery`.
    var name: String
    /// `ok`, `bad`, `off`.
    var state: String
    /// One sentence.
    var text: String
    var remedy: String?
  }

  struct Router: Encodable {
    var id: String
    var name: String
    /// Vendor and model.
    var make: String?
    var online: Bool
    /// RFC 3339, to the minute; nil while it is seen on the local network.
    var seen: String?
    /// Remarks about it: not on the preferred network, runs on another network, …
    var notes: [String]
    /// Whether only its record on the local network says that it is there.
    var onlySeen: Bool
    /// Whether a person may accept that it joined the preferred network.
    var isNew: Bool
    /// The severity of the worst alert about it; nil: there is none.
    var fault: String?
  }

  struct Network: Encodable {
    /// Nil for routers without a network.
    var id: String?
    var name: String
    var channel: Int?
    var preferred: Bool
    /// False: it is preferred by its Extended PAN ID alone.
    var credentials: Bool
    var accepted: Bool
    /// Whether a person can prefer it.
    var preferable: Bool
    var routers: [Router]
  }

  struct Home: Encodable {
    var name: String
    /// Border routers are on several networks, and none is preferred: nothing is checked until a person prefers one.
    var undecided: Bool
    var networks: [Network]
    /// Routers that are not listed, because there are too many.
    var more: Int
  }

  struct Alert: Encodable {
    /// Its fingerprint.
    var id: String
    var home: String
    /// Border agent id of the router that it is about; nil for others.
    var router: String?
    var name: String
    var severity: String
    var summary: String
    var remedy: String
    var since: String
    /// Whether the question that it is about can be asked again.
    var canAsk: Bool
  }

  struct Consent: Encodable {
    var id: String
    var requester: String
    /// Of the key that the answer is sealed to; nil on this machine, where nothing is sealed.
    var fingerprint: String?
    /// That would be given the credentials; nil where the requester asks for itself.
    var router: String?
    var reason: String
    var networks: [String]
    var expires: String
  }

  struct Event: Encodable {
    var at: String
    var severity: String
    /// A sentence.
    var text: String
  }

  var version: String
  var health: [Part]
  /// These are nil while the store cannot be read.
  var homes: [Home]?
  var alerts: [Alert]?
  var consents: [Consent]?
  var events: [Event]
}

extension PageState.Part {
  init(_ check: Readiness.Check) {
    name = check.name
    state = check.ok ? "ok" : "bad"
    text = check.ok ? "works" : check.reason ?? "does not work"
  }

  init(_ discovery: DaemonState.Discovery) {
    name = "discovery"
    switch discovery.state {
    case .off:
      state = "off"
      text = "is switched off"
    case .starting:
      state = "ok"
      text = "starts"
    case .running:
      state = "ok"
      let routers = discovery.routers ?? 0
      text =
        "\(routers) border router\(routers == 1 ? "" : "s") can be seen"
    case .unavailable:
      state = "bad"
      text = discovery.problem ?? "is not available"
      remedy = discovery.remedy
    }
  }
}
