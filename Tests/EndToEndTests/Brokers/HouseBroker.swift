// SPDX-License-Identifier: Apache-2.0

import Broker

/// A broker, and how the daemon, a border router and somebody who watches reach it.
protocol HouseBroker: Sendable {
  /// For the daemon.
  var port: UInt16 { get }
  /// Further lines of the daemon's section `mqtt`.
  var settings: [String] { get }
  /// Whether sessions, with what waits in them, survive `restart`.
  var keepsSessions: Bool { get }

  /// - Parameter user: `border-router` or `monitor`.
  func client(_ user: String, _ filters: String...) -> MosquittoConfiguration

  /// As a person restarts a service; returns when it takes connections.
  func restart() throws
}

extension MosquittoConfiguration {
  /// A client of a test: impatient, and without a session.
  static func house(
    _ user: String?, _ password: String?, port: UInt16, _ filters: [String]
  ) -> Self {
    MosquittoConfiguration(
      host: "127.0.0.1", port: port, clientID: "test-\(UInt32.random(in: 0 ... .max))",
      username: user, password: password, cleanStart: true,
      subscriptions: filters.map { Subscription($0) },
      reconnect: Backoff(initial: .milliseconds(20), ceiling: .milliseconds(200), jitter: 0.2))
  }
}
