import Broker
import Home
import KeychainCore
import TestKit
import Testing

@testable import Bridge

/// A disk that fails at the n-th call of a batch and of the tick after it, for each n.
@Suite("A disk that fails under the loop") struct DiskFaultTests {
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

  @Test("At some calls: nothing acknowledged is lost, it has a reason, and the next delivery is taken") func some()
    throws
  {
    for kind in Kind.allCases {
      // There are few calls with one router, and few syncs with any.
      let step = kind == .ioError || kind == .failedSync ? 1 : 3
      let rounds = try run(kind, step: step, routers: kind.routers)
      #expect(rounds.tried > 0 && rounds.refused > 0, "\(kind): \(rounds)")
    }
  }

  @Test("At every call, and with larger batches", .enabled(if: Soak.disk.isWanted, "`make soak` runs it"))
  func soakDisk() async throws {
    try await Soak.disk.measure { ledger in
      var refused = 0
      for routers in [1, 5, 12, 40] {
        for kind in Kind.allCases {
          let rounds = try run(kind, step: 1, routers: routers) { ledger.round() }
          try Soak.check(rounds.refused > 0, "\(kind), \(routers) routers: no batch was refused")
          refused += rounds.refused
        }
      }
      ledger.name("the error of the batch; \(refused) batches refused")
    }
  }

  /// - Returns: at how many calls the fault was tried, and how many batches were not acknowledged.
  private func run(_ kind: Kind, step: Int, routers: Int, each: () -> Void = {}) throws -> (tried: Int, refused: Int) {
    var (tried, refused) = (0, 0)
    for number in stride(from: 1, to: 2_000, by: step) {
      let outcome = try round(kind, number, routers)
      each()
      refused += outcome.isRefused ? 1 : 0
      if !outcome.hasFired { return (tried, refused) }
      tried += 1
    }
    try Soak.check(false, "\(kind) has no end")
    return (tried, refused)
  }

  private func round(_ kind: Kind, _ number: Int, _ routers: Int) throws -> (hasFired: Bool, isRefused: Bool) {
    let words = "\(kind) at call \(number) of \(routers) routers"
    let disk = FaultyDisk()
    var options = KeychainOptions()
    options.vfs = disk.name
    options.anchorInterval = 0
    let store = try TemporaryStore(options: options)
    var kit = try LoopKit(store: SealedRecords(store.keychain))
    func batch(at seconds: UInt64) -> [IncomingMessage] {
      (0..<routers).map { number in
        let kind = number % 2 == 1 && seconds > 100 ? "dataset" : "announce"
        return .message(kind, number, dataset: .of(1, at: seconds + UInt64(number)))
      }
    }
    try kit.loop.received(batch(at: 100))

    disk.arm(kind.fault(at: number))
    let isAcknowledged = (try? kit.loop.received(batch(at: 200))) != nil
    // Signs of life are saved, and what time brings.
    kit.time.advance(seconds: SignsOfLife.interval + 1)
    let isTickWhole = (try? kit.loop.tick(Link())) != nil && (try? store.keychain.tick()) != nil
    let hasFired = disk.hasFired
    disk.repair()
    try Soak.check(hasFired || isAcknowledged && isTickWhole, "\(words): it failed by itself")
    // The broker delivers again.
    if !isAcknowledged { try kit.loop.received(batch(at: 200)) }
    // A commit that has failed may be on the disk all the same. The next tick decides the same once more.
    if !isTickWhole { _ = try kit.loop.tick(Link()) }
    for _ in 1...2 {
      for number in 0..<routers {
        let stored = try kit.dataset(.router(.agent(number)))
        try Soak.check(stored == .of(1, at: 200 + UInt64(number)), "\(words): lost")
      }
      let report = try store.keychain.verify(.everything)
      try Soak.check(report.matchesManifest && report.unreadable.isEmpty, "\(words): \(report)")
      try kit.loop.stop()
      let home = kit.home
      try store.reopen()
      kit = try LoopKit(store: SealedRecords(store.keychain), time: kit.time)
      try Soak.check(kit.home.equals(home), "\(words): the home was read as another one")
    }
    return (hasFired, !isAcknowledged)
  }
}
