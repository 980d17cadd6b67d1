import Broker
import TestKit

/// A home whose routers report a newer dataset each time, so that what is stored tells which reports were taken.
final class ReportingHome: Sendable {
  let network: ThreadNetwork
  let routers: [BorderRouter]

  init(_ count: Int = 20) throws {
    network = try ThreadNetwork("home")
    routers = (1...count).map { BorderRouter(number: $0, user: "user-\($0 % 7)") }
  }

  /// What all of them publish.
  ///
  /// - Parameter version: of the dataset, from 1.
  func reports(_ version: Int) throws -> [Publication] {
    let dataset = try network.hex(at: UInt64(version))
    return routers.map { $0.announces(dataset, sequence: UInt64(version)) }
  }

  /// Routers of which something older is stored, or nothing.
  func missing(_ version: Int, in installation: Installation) async throws -> Int {
    let outcome = try await installation.command("credentials", "list", "--json")
    var versions: [String: Int64] = [:]
    for one in JSON(outcome.output)?.list ?? [] {
      versions[one["border_agent_id"]?.text ?? ""] = one["active_timestamp"]?.number
    }
    return routers.count { versions[$0.agent] ?? 0 < Int64(version) }
  }

  /// Waits until all of them are stored.
  func stored(_ version: Int, in installation: Installation, within limit: Duration = .seconds(60)) async throws {
    try await eventually(within: limit, "report \(version) of all routers") {
      try await missing(version, in: installation) == 0
    }
  }
}

extension Installation {
  /// Stops the daemon as systemd does, and looks at what it has left.
  ///
  /// - Parameter verifies: whether this process can reach the store.
  func checkStop(_ daemon: DaemonProcess, verifies: Bool = true) async throws {
    try Soak.check(try await daemon.stop() == .exit(0), "it did not stop:\n\(daemon.log)")
    if verifies { try checkStore() }
  }

  /// Ends the run of a fault when an item cannot be read, or the store is not what its manifest says.
  func checkStore() throws {
    let report = try verify()
    try Soak.check(report.matchesManifest && report.unreadable.isEmpty, "the store does not verify: \(report)")
  }
}

/// Routers that report, and a daemon that reaches its broker through a relay. All of their first report is stored.
struct RelayedHome {
  let relay: Relay
  let installation: Installation
  let daemon: DaemonProcess
  let publisher: TestPublisher
  let home: ReportingHome
  let health: Audience
  private let broker: TestBroker

  static func start(routers: Int = 20, variables: [String: String] = [:]) async throws -> RelayedHome {
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
    try Soak.check(status["store"]?["condition"] == "healthy", "the store is not healthy: \(status)")
  }
}
