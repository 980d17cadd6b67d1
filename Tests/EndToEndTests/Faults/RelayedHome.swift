// SPDX-License-Identifier: Apache-2.0

import TestKit

/// Routers that report, and a daemon that reaches its broker through a relay. All of their first report is stored.
struct RelayedHome {
  let relay: Relay
  let installation: Installation
  let daemon: DaemonProcess
  let publisher: TestPublisher
  let home: ReportingHome
  let health: Audience
  private let broker: TestBroker

  static func start(
    routers: Int = 20, variables: [String: String] = [:]
  ) async throws -> RelayedHome {
    let broker = try TestBroker()
    let relay = try Relay(to: broker.port)
    let installation = try Installation(port: relay.port, hold: 0, variables: variables)
    let started = RelayedHome(
      relay: relay, installation: installation, daemon: try await installation.start(),
      publisher: try await TestPublisher.start(broker), home: try ReportingHome(routers),
      health: try await Audience.start(broker, "threadkeeper/bridge/health"), broker: broker)
    try await started.publisher.publish(try started.home.reports(1))
    try await started.home.stored(1, in: installation)
    return started
  }

  /// Nothing is lost, and the store is healthy.
  func check(_ version: Int, _ ledger: Soak.Ledger? = nil) async throws {
    let missing = try await home.missing(version, in: installation)
    ledger?.lose(missing)
    try Soak.check(missing == 0, "\(missing) reports are lost")
    let status = try await installation.json("status")
    try Soak.check(
      status["store"]?["condition"] == "healthy", "the store is not healthy: \(status)")
  }
}
