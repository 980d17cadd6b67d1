// SPDX-License-Identifier: Apache-2.0

#if Fleet

import Foundation
import Synchronization
import TestKit

/// What a scene did not come to.
struct FleetFailure: Error, CustomStringConvertible {
  let description: String
}

/// The faults of `make test-fleet`. Each has a short form, which is part of `make test`, and a long one, which runs where
/// `FLEET_FAULTS` names it and writes its figures as a row of the table that `.ci/test-fleet` prints.
enum FleetFault: String, CaseIterable, Sendable {
  case kill, lost, zombie, drain, postgres, commit, standby, broker, contest, isolation, versions

  private static let wanted = Set(
    (ProcessInfo.processInfo.environment["FLEET_FAULTS"] ?? "")
      .split(separator: " ").map(String.init))

  /// Whether it runs in its long form.
  var isLong: Bool { Self.wanted.contains(rawValue) }

  /// Where long forms run, those of other faults have nothing to do.
  var isWanted: Bool { Self.wanted.isEmpty || isLong }

  func rounds(short: Int, long: Int) -> Int { isLong ? long : short }

  /// Figures of a run, from any thread.
  final class Ledger: Sendable {
    private struct Figures {
      var rounds = 0
      var lost = 0
      var messages: UInt64 = 0
      var times: [Double] = []
    }

    /// Seconds that a fail-over may take in all but one of a hundred.
    let limit: Double
    private let figures = Mutex(Figures())

    init(limit: Double?) { self.limit = limit ?? .infinity }

    func round() { figures.withLock { $0.rounds += 1 } }

    /// Seconds from a fault to the first message of a shard that was published after it and is committed.
    func note(_ seconds: Double) { figures.withLock { $0.times.append(seconds) } }

    /// What the broker has acknowledged, and how much of it is not in the database.
    func check(_ messages: UInt64, lost: Int) {
      figures.withLock {
        $0.messages += messages
        $0.lost += lost
      }
    }

    var rounds: Int { figures.withLock { $0.rounds } }
    var lost: Int { figures.withLock { $0.lost } }
    var messages: UInt64 { figures.withLock { $0.messages } }
    var times: [Double] { figures.withLock { $0.times.sorted() } }

    /// The nearest rank; nil where nothing was measured.
    func percentile(_ part: Double) -> Double? {
      let times = times
      guard !times.isEmpty else { return nil }
      return times[min(times.count - 1, max(0, Int((part * Double(times.count)).rounded(.up)) - 1))]
    }
  }

  /// Runs it, and writes its row, also when it fails.
  ///
  /// - Parameter limit: seconds that the time of a fail-over may take in all but one of a hundred. It holds in the long
  ///   form: the short one runs beside thousands of other tests.
  func measure(limit: Double? = nil, _ body: (Ledger) async throws -> Void) async throws {
    let ledger = Ledger(limit: limit)
    let started = ContinuousClock.now
    do {
      try await body(ledger)
      try Soak.check(ledger.rounds > 0, "there was no round")
      try Soak.check(ledger.lost == 0, "\(ledger.lost) are lost")
      if isLong, let limit, let p99 = ledger.percentile(0.99) {
        try Soak.check(p99 <= limit, "the 99th percentile is \(p99) s, the limit \(limit) s")
      }
      note(ledger, started, "ok")
    } catch {
      note(ledger, started, "failed")
      throw error
    }
  }

  private func note(_ ledger: Ledger, _ started: ContinuousClock.Instant, _ result: String) {
    func text(_ seconds: Double?) -> String {
      seconds.map { String(format: "%.2f", $0) } ?? "-"
    }
    let cells = [
      rawValue, "\(ledger.rounds)", "\(started.duration(to: .now).components.seconds)",
      "\(ledger.messages)", "\(ledger.lost)", text(ledger.percentile(0.5)),
      text(ledger.percentile(0.99)), text(ledger.times.last), result,
    ]
    let row = cells.joined(separator: "|")
    guard isLong, let path = ProcessInfo.processInfo.environment["FLEET_ROWS"],
      let file = fopen(path, "a")
    else { return }
    fputs(row + "\n", file)
    fclose(file)
  }
}

#endif
