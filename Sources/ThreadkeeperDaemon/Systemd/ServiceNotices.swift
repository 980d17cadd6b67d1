// SPDX-License-Identifier: Apache-2.0

/// Which notices a service manager gets, as lines of sd_notify(3). Decides only, and sends nothing.
///
/// | when | lines |
/// |---|---|
/// | the first turn | `READY=1`, `STATUS=` |
/// | a later turn, with other words | `STATUS=` |
/// | a turn, a third of the watchdog's limit after the last | `WATCHDOG=1` |
/// | the stop | `STOPPING=1`, `STATUS=`; nothing after it |
struct ServiceNotices {
  private enum Phase { case starting, running, stopping }

  /// Characters of a status; `systemctl status` shows it in one line.
  private static let statusLength = 300

  /// How often `WATCHDOG=1` is due: two may come late. Nil without a watchdog.
  private let watchdogInterval: Duration?
  private var phase = Phase.starting
  private var status = ""
  private var watchdogAt: ContinuousClock.Instant?

  init(watchdogLimit: Duration?) { watchdogInterval = watchdogLimit.map { $0 / 3 } }

  /// The event loop has made a turn.
  ///
  /// - Parameter status: how the daemon is, in plain words.
  mutating func turn(_ status: String, at now: ContinuousClock.Instant) -> [String] {
    guard phase != .stopping else { return [] }
    var lines: [String] = []
    if phase == .starting {
      phase = .running
      lines.append("READY=1")
    }
    if status != self.status {
      self.status = status
      lines.append(Self.line(status))
    }
    if let watchdogInterval, watchdogAt.map({ $0 + watchdogInterval <= now }) ?? true {
      watchdogAt = now
      lines.append("WATCHDOG=1")
    }
    return lines
  }

  mutating func stop() -> [String] {
    guard phase != .stopping else { return [] }
    phase = .stopping
    return ["STOPPING=1", Self.line("Stopping")]
  }

  /// One line, whatever a broker has said.
  private static func line(_ status: String) -> String {
    "STATUS=" + String(status.prefix(statusLength)).printable
  }
}
