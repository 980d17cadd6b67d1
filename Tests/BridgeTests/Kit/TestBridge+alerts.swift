// SPDX-License-Identifier: Apache-2.0

import Broker

@testable import Bridge

extension TestBridge {
  /// With two routers at home, and nothing that is still to be told.
  static func settled() throws -> TestBridge {
    let bridge = try TestBridge()
    try bridge.announce(Agent.living, .home, at: 5)
    try bridge.announce(Agent.attic, .home, at: 5)
    // The alert about unsealed keys is the same in all tests.
    try bridge.pass(30)
    _ = try bridge.takeEvents()
    return bridge
  }

  /// The words for alerts since the last call.
  func takeAlertNames() throws -> [String] {
    try takeNames().filter { $0.hasPrefix("alert_") }
  }

  /// The same for one alert of the living room's router.
  func takeNames(of name: AlertName) throws -> [String] {
    let fingerprint = AlertFingerprint(home: "home", name: name, subject: Agent.living)
    return Self.names(try takeEvents().filter { $0.alert == fingerprint })
  }
}
