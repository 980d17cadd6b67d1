#if Fleet
import Foundation
import Synchronization
import TestKit

/// The faults of `make test-fleet`. Each has a short form, which is part of `make test`, and a long one, which runs where
/// `FLEET_FAULTS` names it and writes its figures as a row of the table that `.ci/test-fleet` prints.
enum FleetFault: String, CaseIterable, Sendable {
  case kill, lost, zombie, drain, postgres, commit, standby, broker, contest, isolation, versions

  private static let wanted = Set(
    (ProcessInfo.processInfo.environment["FLEET_FAULTS"] ?? "").split(separator: " ").map(String.init))

  /// Whether it runs in its long form.
  var isLong: Bool { Self.wanted.contains(rawValue) }

  /// Where long forms run, those of other faults have nothing to do.
  var isWanted: Bool { Self.wanted.isEmpty || isLong }

  func rounds(short: Int, long: Int) -> Int { isLong ? long : short }

  /// Figures of a run, from any thread.
  final class Ledger: Sendable {
    struct Figures {
      var rounds = 0
      var lost = 0
      var messages: UInt64 = 0
      /// Seconds from a fault to the first message of a shard that was published after it and is committed.
      var times: [Double] = []

      /// The nearest rank of the times; nil where nothing was measured.
      func percentile(_ part: Double) -> Double? {
        let times = times.sorted()
        guard !times.isEmpty else { return nil }
        let rank = Int((part * Double(times.count)).rounded(.up))
        return times[min(times.count - 1, max(0, rank - 1))]
      }
    }

    /// Seconds that a fail-over may take in all but one of a hundred.
    let limit: Double
    private let state = Mutex(Figures())

    init(limit: Double?) { self.limit = limit ?? .infinity }

    var figures: Figures { state.withLock { $0 } }

    func round() { state.withLock { $0.rounds += 1 } }

    func note(_ seconds: Double) { state.withLock { $0.times.append(seconds) } }

    /// What the broker has acknowledged, and how much of it is not in the database.
    func check(_ messages: UInt64, lost: Int) {
      state.withLock {
        $0.messages += messages
        $0.lost += lost
      }
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
      let figures = ledger.figures
      try Soak.check(figures.rounds > 0, "there was no round")
      try Soak.check(figures.lost == 0, "\(figures.lost) are lost")
      if isLong, let limit, let p99 = figures.percentile(0.99) {
        try Soak.check(p99 <= limit, "the 99th percentile is \(p99) s, the limit \(limit) s")
      }
      note(figures, started, "ok")
    } catch {
      note(ledger.figures, started, "failed")
      throw error
    }
  }

  private func note(_ figures: Ledger.Figures, _ started: ContinuousClock.Instant, _ result: String) {
    guard isLong else { return }
    let times = [0.5, 0.99, 1].map { part in figures.percentile(part).map { String(format: "%.2f", $0) } ?? "-" }
    let cells =
      [
        rawValue, "\(figures.rounds)", "\(started.duration(to: .now).components.seconds)", "\(figures.messages)",
        "\(figures.lost)",
      ] + times + [result]
    Soak.append(cells, to: "FLEET_ROWS")
  }
}
#endif
