// SPDX-License-Identifier: Apache-2.0

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
    /// What is to be said of it: not on the preferred network, seen only on the local network, …
    var notes: [String]
  }

  struct Network: Encodable {
    /// Nil for routers without a network.
    var id: String?
    var name: String
    var channel: Int?
    var preferred: Bool
    var accepted: Bool
    var routers: [Router]
  }

  struct Home: Encodable {
    var name: String
    var networks: [Network]
    /// Routers that are not listed, because there are too many.
    var more: Int
  }

  struct Alert: Encodable {
    /// Its fingerprint.
    var id: String
    var home: String
    var name: String
    var severity: String
    var summary: String
    var remedy: String
    var since: String
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
    var text: String
    var details: [String: String]
  }

  var version: String
  var health: [Part]
  /// These are nil while the store cannot be read.
  var homes: [Home]?
  var alerts: [Alert]?
  var consents: [Consent]?
  var events: [Event]
}
