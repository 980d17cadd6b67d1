// SPDX-License-Identifier: Apache-2.0

import Bridge
import Glibc
import ServiceLifecycle
import Settings
import Synchronization

/// Keeps the service manager informed that started this process: `Type=notify` and `WatchdogSec=` of systemd.
final class ServiceManager: Service {
  private let socket: NotifySocket
  private let notices: Mutex<ServiceNotices>
  /// Of the broker, for the status.
  private let broker: String

  /// Nil where none wants notices.
  init?(_ settings: Settings, environment: [String: String]) {
    guard let socket = NotifySocket(environment: environment) else { return nil }
    self.socket = socket
    notices = Mutex(
      ServiceNotices(watchdogLimit: WatchdogLimit.duration(environment: environment)))
    broker =
      switch settings.mqtt.host {
      case .embedded: "the private broker"
      case .named(let name): "\(name):\(settings.mqtt.port)"
      }
  }

  /// The bridge's event loop has made a turn. Called on its thread, so that the watchdog learns when it makes none.
  func turn(_ snapshot: BridgeMonitor.Snapshot) {
    let status = status(snapshot)
    // What is not sent, because systemd reads late, is due again at the next turn: without READY=1 it would never start.
    notices.withLock {
      var next = $0
      if socket.send(next.turn(status, at: .now)) { $0 = next }
    }
  }

  func run() async throws {
    try? await gracefulShutdown()
    notices.withLock { _ = socket.send($0.stop()) }
  }

  private func status(_ snapshot: BridgeMonitor.Snapshot) -> String {
    let reason = snapshot.reason.map { ": \($0)" } ?? ""
    switch snapshot.intake {
    case .running: return "Connected to \(broker)\(reason)"
    case .connecting: return "Not connected to \(broker)\(reason)"
    case .backingOff: return "No messages are taken in\(reason)"
    }
  }
}

/// How long a service manager waits for a sign of life before it restarts this process: `WatchdogSec=` of systemd, in
/// the variables of sd_watchdog_enabled(3).
package enum WatchdogLimit {
  /// - Returns: nil where there is no watchdog, or where it watches another process.
  package static func duration(
    environment: [String: String], process: Int32 = getpid()
  ) -> Duration? {
    guard let microseconds = environment["WATCHDOG_USEC"].flatMap(Int64.init), microseconds > 0
    else { return nil }
    if let watched = environment["WATCHDOG_PID"], Int32(watched) != process { return nil }
    return .microseconds(microseconds)
  }
}
