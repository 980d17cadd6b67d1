// SPDX-License-Identifier: Apache-2.0

import Broker
import TestKit
import Testing

@testable import Bridge

/// A disk that fails at the n-th call of a batch and of the tick after it, for each n.
@Suite("A disk that fails under the intake")
struct DiskFaultTests {
  private enum Kind: CaseIterable {
    case ioError, full, shortWrite, failedSync

    /// Of the short test.
    var routers: Int {
      switch self {
      case .ioError: 1
      case .full, .failedSync: 3
      case .shortWrite: 5
      }
    }

    func fault(at number: Int) -> FaultyDisk.Fault {
      switch self {
      case .ioError: .ioError(at: number)
      case .full: .full(at: number)
      case .shortWrite: .shortWrite(at: number)
      case .failedSync: .failedSync(at: number, seed: UInt64(number))
      }
    }
  }

  @Test(
    "At some calls: nothing acknowledged is lost, it has a reason, and the next delivery is taken")
  func some() throws {
    for kind in Kind.allCases {
      // There are few syncs.
      let step = kind == .failedSync ? 1 : 7
      let rounds = try run(kind, from: 1, step: step, routers: kind.routers)
      #expect(rounds.tried > 0 && rounds.refused > 0, "\(kind): \(rounds)")
    }
  }

  @Test(
    "At every call, and with larger batches",
    .enabled(if: Soak.disk.isWanted, "`make soak` runs it"))
  func soakDisk() async throws {
    try await Soak.disk.measure { ledger in
      var refused = 0
      for (routers, step) in [(5, 1), (1, 1), (12, 3)] {
        for kind in Kind.allCases {
          let step = kind == .failedSync ? 1 : step
          let rounds = try run(kind, from: 1, step: step, routers: routers) { ledger.round() }
          try Soak.check(rounds.refused > 0, "\(kind), \(routers) routers: no batch was refused")
          refused += rounds.refused
        }
      }
      ledger.name("the store's problem in the monitor; \(refused) batches refused")
    }
  }

  /// - Returns: at how many calls the fault was tried, and how many batches were not acknowledged.
  private func run(
    _ kind: Kind, from first: Int, step: Int, routers: Int, each: () -> Void = {}
  ) throws -> (tried: Int, refused: Int) {
    var (tried, refused) = (0, 0)
    for number in stride(from: first, to: 2_000, by: step) {
      let outcome = try round(kind, number, routers)
      each()
      refused += outcome.isRefused ? 1 : 0
      if !outcome.hasFired { return (tried, refused) }
      tried += 1
    }
    try Soak.check(false, "\(kind) has no end")
    return (tried, refused)
  }

  private func round(_ kind: Kind, _ number: Int, _ routers: Int) throws -> (
    hasFired: Bool, isRefused: Bool
  ) {
    let words = "\(kind) at call \(number) of \(routers) routers"
    let disk = FaultyDisk()
    let bridge = try TestBridge(disk: disk)
    let monitor = BridgeMonitor()
    let intake = try bridge.intake(bridge.runner(monitor))
    func batch(at seconds: UInt64) throws -> [IncomingMessage] {
      try (0..<routers).map { number in
        let dataset = try SampleNetwork.home.dataset(at: seconds + UInt64(number))
        // One that is known may change its dataset, too.
        let kind = number % 2 == 1 && seconds > 100 ? InboundEventKind.dataset : .announce
        return try bridge.message(kind, Fleet.agent(number), ["dataset": dataset.hex])
      }
    }
    try intake.received(try batch(at: 100))

    disk.arm(kind.fault(at: number))
    let isAcknowledged = (try? intake.received(try batch(at: 200))) != nil
    let problem = monitor.snapshot.storeProblem
    // Upkeep, and what time brings.
    let isTickWhole = (try? bridge.pass(1)) != nil && (try? bridge.temporary.keychain.tick()) != nil
    let hasFired = disk.hasFired
    disk.repair()
    // What is not acknowledged is named, so that the connection without a store publishes it.
    try Soak.check(isAcknowledged || problem != nil, "\(words): nothing names it")
    try Soak.check(hasFired || isAcknowledged && isTickWhole, "\(words): it failed by itself")
    // The broker delivers again.
    if !isAcknowledged { try intake.received(try batch(at: 200)) }
    try Soak.check(monitor.snapshot.storeProblem == nil, "\(words): it is still named")
    for _ in 1...2 {
      for number in 0..<routers {
        let stored = try bridge.credential(Fleet.agent(number))?.dataset
        try Soak.check(
          try stored == SampleNetwork.home.dataset(at: 200 + UInt64(number)), "\(words): lost")
      }
      try Recount(bridge: bridge, comment: Comment(rawValue: words)).check()
      let report = try bridge.temporary.keychain.verify(.everything)
      try Soak.check(
        report.matchesManifest && report.unreadable.isEmpty, "\(words): \(report)")
      try bridge.restart()
    }
    return (hasFired, !isAcknowledged)
  }
}
