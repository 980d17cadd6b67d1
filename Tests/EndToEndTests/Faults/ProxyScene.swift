// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing

/// A daemon that reaches its broker over a way that fails, and routers that report meanwhile.
struct ProxyScene {
  private let broker: TestBroker
  private let relay: Relay
  private let installation: Installation
  private let daemon: DaemonProcess
  private let publisher: TestPublisher
  private let home: ReportingHome
  private let health: Audience
  private var version = 1

  static func start() async throws -> ProxyScene {
    let broker = try TestBroker()
    let relay = try Relay(to: broker.port)
    let installation = try Installation(port: relay.port, hold: 0)
    let scene = ProxyScene(
      broker: broker, relay: relay, installation: installation,
      daemon: try await installation.start(), publisher: try await TestPublisher.start(broker),
      home: try ReportingHome(),
      health: try await Audience.start(broker, "threadkeeper/bridge/health"))
    try await scene.publisher.publish(try scene.home.reports(1))
    try await scene.home.stored(1, in: installation)
    return scene
  }

  /// Every report while the fault lasts is stored, at the latest when it is over.
  mutating func round(_ fault: Relay.Fault) async throws {
    try await connected()
    version += 1
    let before = connections
    switch fault {
    case .lostAcknowledgements:
      relay.begin(fault)
      try await publisher.publish(try home.reports(version))
      try await home.stored(version, in: installation)
      relay.hangUp()
    case .cut:
      relay.begin(fault)
      // What they send each other grows until the cut comes.
      while relay.fault != nil {
        version += 1
        try await publisher.publish(try home.reports(version))
      }
    case .blackHole:
      relay.begin(fault)
      try await publisher.publish(try home.reports(version))
      try Soak.check(
        try await home.missing(version, in: installation) > 0, "something came through a black hole"
      )
      relay.begin(nil)
    case .duplicates:
      relay.hangUp(then: fault)
      try await eventually("a connection with duplicates") { connections > before }
      try await publisher.publish(try home.reports(version))
      try await home.stored(version, in: installation)
      relay.hangUp()
    case .slow:
      relay.begin(fault)
      try await publisher.publish(try home.reports(version))
      try await home.stored(version, in: installation)
      relay.begin(nil)
    }
    try await home.stored(version, in: installation, within: .seconds(120))
  }

  /// A broker that does not answer for longer than the keep-alive allows: the daemon connects again when it can.
  mutating func longSilence() async throws {
    try await connected()
    version += 1
    let before = losses
    relay.begin(.blackHole)
    try await publisher.publish(try home.reports(version))
    try await eventually(within: .seconds(150), "the daemon to give the connection up") {
      losses > before
    }
    relay.hangUp()
    try await home.stored(version, in: installation, within: .seconds(120))
  }

  /// - Returns: what named the faults.
  func end() async throws -> String {
    try await connected()
    try Soak.check(
      try await home.missing(version, in: installation) == 0, "a report was lost")
    let last = try await installation.json("status")
    try Soak.check(last["store"]?["condition"] == "healthy", "the store is not healthy: \(last)")
    try await health.until("health with duplicates and reconnects", within: .seconds(120)) {
      guard let state = $0.state("threadkeeper/bridge/health") else { return false }
      return state["duplicates_ignored"]?.number ?? 0 > 0
        && state["intake_reconnects"]?.number ?? 0 > 0
    }
    let state = health.state("threadkeeper/bridge/health")
    try Soak.check(try await daemon.stop() == .exit(0), "it did not stop:\n\(daemon.log)")
    try installation.checkStore()
    let reconnects = state?["intake_reconnects"]?.number ?? 0
    let duplicates = state?["duplicates_ignored"]?.number ?? 0
    return "health: `intake_reconnects` \(reconnects), `duplicates_ignored` \(duplicates)"
  }

  private func connected() async throws {
    try await eventually(within: .seconds(120), "the daemon to be connected") {
      let status = try await installation.json("status")
      return status["intake"]?["state"] == "running" && status["broker"]?["state"] == "connected"
    }
  }

  private var connections: Int { daemon.log.components(separatedBy: "intake connected").count }

  private var losses: Int { daemon.log.components(separatedBy: "intake disconnected").count }
}
