import Foundation
import Synchronization

/// The faults of `make soak`. A test of one in its long form runs only there, and its figures become a row of the table
/// that `.ci/soak` prints.
package enum Soak: String, CaseIterable, Sendable {
  case kill, proxy, broker, takeover, disk, power, trouble, backlog, forget, flood, memory, files
  case clock

  private static let wanted = names("SOAK_FAULTS")

  /// Whether tests that try a sample in `make test` try everything: each byte, each call, thousands of rounds. They do
  /// with SOAK_ROUNDS=all in the environment.
  package static let triesAll = ProcessInfo.processInfo.environment["SOAK_ROUNDS"] == "all"

  package var isWanted: Bool { Self.wanted.contains(rawValue) }

  /// What a run came to.
  package struct Figures: Sendable {
    package var rounds = 0
    /// Messages that the broker had acknowledged, or changes that were committed, and that are not in the store.
    package var lost = 0
    /// The alert, metric, topic or message that named the fault.
    package var named = ""
  }

  /// What the body counts, from any thread.
  package final class Ledger: Sendable {
    private let figures = Mutex(Figures())

    package var current: Figures { figures.withLock { $0 } }

    package func round() { figures.withLock { $0.rounds += 1 } }

    package func lose(_ count: Int) { figures.withLock { $0.lost += count } }

    package func name(_ words: String) { figures.withLock { $0.named = words } }
  }

  /// What a fault has to come to: a round that fails ends the run of its fault.
  package struct Failed: Error, CustomStringConvertible { package let description: String }

  /// Runs it, and writes its row, also when it fails.
  package func measure(_ body: (Ledger) async throws -> Void) async throws {
    let ledger = Ledger()
    let started = ContinuousClock.now
    do {
      try await body(ledger)
      let figures = ledger.current
      try Self.check(figures.rounds > 0, "there was no round")
      try Self.check(figures.lost == 0, "\(figures.lost) are lost")
      try Self.check(!figures.named.isEmpty, "nothing named the fault")
      note(figures, started, "ok")
    } catch {
      note(ledger.current, started, "failed")
      throw error
    }
  }

  /// Unlike `#expect` it ends the run, so that its row says so.
  package static func check(_ condition: Bool, _ words: @autoclosure () -> String) throws {
    if !condition { throw Failed(description: words()) }
  }

  private func note(_ figures: Figures, _ started: ContinuousClock.Instant, _ result: String) {
    Self.append(
      [
        rawValue, "\(figures.rounds)", "\(started.duration(to: .now).components.seconds)", "\(figures.lost)",
        figures.named.isEmpty ? "-" : figures.named, result,
      ], to: "SOAK_ROWS")
  }

  /// Writes a row of a table into the file that a variable names.
  package static func append(_ cells: [String], to variable: String) {
    guard let path = ProcessInfo.processInfo.environment[variable], let file = fopen(path, "a") else { return }
    fputs(cells.joined(separator: "|") + "\n", file)
    fclose(file)
  }

  private static func names(_ variable: String) -> Set<String> {
    let text = ProcessInfo.processInfo.environment[variable] ?? ""
    return Set(text.split(separator: " ").map(String.init))
  }
}
