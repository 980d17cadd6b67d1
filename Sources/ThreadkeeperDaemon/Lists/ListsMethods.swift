// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import ThreadRequests
import VarlinkSocket

/// `io.threadkeeper.Lists`: what commands show of the registry and the store.
package enum ListsMethods {
  private static let interface = VarlinkInterface.lists.name

  package static let alerts = VarlinkStream<Alerts, Rows<AlertState>>(
    interface, "Alerts", for: .reader)
  package static let routers = VarlinkStream<VarlinkNothing, Rows<RouterState>>(
    interface, "Routers", for: .reader)
  package static let networks = VarlinkStream<VarlinkNothing, Rows<NetworkState>>(
    interface, "Networks", for: .reader)
  package static let credentials = VarlinkStream<VarlinkNothing, Rows<CredentialReport>>(
    interface, "Credentials", for: .reader)
  package static let former = VarlinkStream<HomeSelection, Rows<FormerNetworkRecord>>(
    interface, "Former", for: .reader)
  package static let credential = VarlinkMethod<RouterSelection, CredentialReport>(
    interface, "Credential", for: .reader)
  package static let credentialSecret = VarlinkMethod<RouterSelection, CredentialReport>(
    interface, "CredentialSecret", for: .owner)
  package static let preferred = VarlinkMethod<HomeSelection, PreferredReport>(
    interface, "Preferred", for: .reader)
  package static let preferredSecret = VarlinkMethod<HomeSelection, PreferredReport>(
    interface, "PreferredSecret", for: .owner)

  package struct Alerts: Codable, Sendable {
    /// Also those that were resolved within the last day.
    package var all: Bool

    package init(all: Bool) { self.all = all }
  }

  package struct HomeSelection: Codable, Sendable {
    package var home: String

    package init(home: String) { self.home = home }
  }

  /// Rows of a list; a long one comes in several of these.
  package struct Rows<Row: Codable & Sendable>: Codable, Sendable, VarlinkFieldNames {
    package var rows: [Row]
    /// Why there are none.
    package var note: String?
    /// How many more there are that cannot be read, and those among them that have a name.
    package var unreadable: Int?
    package var damaged: [String]?

    init(_ rows: [Row], note: String? = nil, unreadable: Int? = nil, damaged: [String]? = nil) {
      self.rows = rows
      self.note = note
      self.unreadable = unreadable
      self.damaged = damaged
    }
  }
}

/// A border agent id of a home.
package struct RouterSelection: Codable, Sendable {
  package var home: String
  /// 16 or 32 hexadecimal digits.
  package var borderAgentId: String

  package init(home: String, borderAgentId: String) {
    self.home = home
    self.borderAgentId = borderAgentId
  }
}
