import Foundation
import TestKit
import Testing

/// The short forms are in `StoreTroubleTests`.
@Suite("Trouble with the store, again and again", .serialized) struct TroubleSoakTests {
  private static let rounds = 2
  private static let health = "threadkeeper/bridge/health"

  /// How a fault begins and ends.
  private struct Fault {
    let name: String
    let begin: () throws -> Void
    let end: () throws -> Void
  }

  @Test(
    "Reads that fail, writes that fail, a read-only file system, a full disk: each names itself and ends by itself",
    .enabled(if: Soak.trouble.isWanted, "`make soak` runs it"),
    .enabled(if: FailingFiles.isPossible, "there is no C compiler"),
    .enabled(if: PrivateMount.isPossible, "this machine lets nobody mount a file system")) func soakTrouble()
    async throws
  {
    try await Soak.trouble.measure { ledger in
      for _ in 1...Self.rounds {
        for kind in FailingFiles.Fault.allCases {
          let disk = try FailingFiles()
          let broker = try TestBroker()
          let installation = try Installation(broker, storePath: disk.storePath, variables: disk.variables)
          try await suffer(
            Fault(
              name: kind.rawValue,
              begin: {
                try disk.begin(kind)
                // What it has in memory it need not read.
                if kind == .reads { try DamagedPage.dropCaches(of: installation.location.databasePath) }
              }, end: { try disk.end(kind) }), broker, installation, ledger)
        }
        let directory = try TemporaryDirectory()
        let disk = try PrivateMount(in: directory, megabytes: 24)
        let broker = try TestBroker()
        let installation = try Installation(broker, storePath: "\(disk.path)/store", launcher: disk.launcher)
        try await suffer(
          Fault(name: "full", begin: { try disk.fill() }, end: { try disk.empty() }), broker, installation, ledger,
          verifies: false)
      }
      ledger.name("alert `StoreReadOnly`, health `backing_off`")
    }
  }

  /// - Parameter verifies: whether this process can reach the store.
  private func suffer(
    _ fault: Fault, _ broker: TestBroker, _ installation: Installation, _ ledger: Soak.Ledger, verifies: Bool = true
  ) async throws {
    let audience = try await Audience.start(broker)
    let daemon = try await installation.start()
    let publisher = try await TestPublisher.start(broker)
    let home = try ReportingHome(200)
    try await publisher.publish(try home.reports(1))
    try await home.stored(1, in: installation)
    try fault.begin()
    // A full disk still has room in the log for a few.
    var version = 1
    func isNamed(_ heard: Audience.Heard) -> Bool {
      heard.state(Self.health)?["intake"] == "backing_off" && !heard.alerts("alert_raised", "StoreReadOnly").isEmpty
    }
    try await eventually("the alert, with \(fault.name)") {
      if !audience.look(isNamed), version < 100 {
        version += 1
        try await publisher.publish(try home.reports(version))
      }
      return audience.look(isNamed)
    }
    try fault.end()
    try await home.stored(version, in: installation, within: .seconds(120))
    ledger.lose(try await home.missing(version, in: installation))
    try await audience.until("the end of the alert", within: .seconds(120)) {
      !$0.alerts("alert_resolved", "StoreReadOnly").isEmpty
    }
    try await installation.checkStop(daemon, verifies: verifies)
    ledger.round()
  }
}
