import Bridge
import Glibc
import ServiceLifecycle
import Settings
import Synchronization
import ThreadkeeperSupport

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
    notices = Mutex(ServiceNotices(watchdogLimit: WatchdogLimit.duration(environment: environment)))
    broker =
      switch settings.mqtt.host {
      case .embedded: "the private broker"
      case .named(let name): "\(HostAndPort(name, settings.mqtt.port))"
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
    let intake = snapshot.intake
    let reason = intake.reason.map { ": \($0)" } ?? ""
    switch intake.state {
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
  package static func duration(environment: [String: String], process: Int32 = getpid()) -> Duration? {
    guard let microseconds = environment["WATCHDOG_USEC"].flatMap(Int64.init), microseconds > 0 else { return nil }
    if let watched = environment["WATCHDOG_PID"], Int32(watched) != process { return nil }
    return .microseconds(microseconds)
  }
}

/// The socket at which a service manager receives notices of this process: the protocol of sd_notify(3), without
/// libsystemd. A notice is one datagram of lines `KEY=VALUE`.
package final class NotifySocket: Sendable {
  private static let variable = "NOTIFY_SOCKET"
  /// Of `sun_path`: unix(7).
  private static let room = 108

  /// One for the life of the process: a daemon that has run out of open files must still be able to send.
  private let descriptor: Int32
  /// The name in the form of `sun_path`; that of an abstract socket begins with a zero byte.
  private let name: [UInt8]

  /// Nil where no service manager waits for notices, or where its address is none of a Unix socket.
  package init?(environment: [String: String]) {
    guard let name = environment[Self.variable].flatMap(Self.name) else { return nil }
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return nil }
    self.name = name
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  /// Sends lines as one notice. Does not wait: systemd reads when it can, and a daemon does not stand still for it.
  ///
  /// - Returns: whether it was sent.
  @discardableResult package func send(_ lines: [String]) -> Bool {
    guard !lines.isEmpty else { return true }
    let message = Array(lines.joined(separator: "\n").utf8)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
    // The length says where the name of an abstract socket ends.
    let length = socklen_t(MemoryLayout<sa_family_t>.size + name.count)
    let sent = withUnsafePointer(to: address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        sendto(descriptor, message, message.count, Int32(MSG_DONTWAIT | MSG_NOSIGNAL), $0, length)
      }
    }
    return sent == message.count
  }

  /// - Returns: nil for an address that is neither a path nor the name of an abstract socket (`@…`).
  private static func name(_ address: String) -> [UInt8]? {
    var bytes = Array(address.utf8)
    guard bytes.count > 1, bytes.count < room else { return nil }
    switch bytes[0] {
    case UInt8(ascii: "/"): return bytes + [0]
    case UInt8(ascii: "@"):
      bytes[0] = 0
      return bytes
    default: return nil
    }
  }
}

/// Which notices a service manager gets, as lines of sd_notify(3). Decides only, and sends nothing.
///
/// | when | lines |
/// |---|---|
/// | the first turn | `READY=1`, `STATUS=` |
/// | a later turn, with other words | `STATUS=` |
/// | a turn, a third of the watchdog's limit after the last | `WATCHDOG=1` |
/// | the stop | `STOPPING=1`, `STATUS=`; nothing after it |
package struct ServiceNotices {
  private enum Phase { case starting, running, stopping }

  /// Characters of a status; `systemctl status` shows it in one line.
  private static let statusLength = 300

  /// How often `WATCHDOG=1` is due: two may come late. Nil without a watchdog.
  private let watchdogInterval: Duration?
  private var phase = Phase.starting
  private var status = ""
  private var watchdogAt: ContinuousClock.Instant?

  package init(watchdogLimit: Duration?) { watchdogInterval = watchdogLimit.map { $0 / 3 } }

  /// The event loop has made a turn.
  ///
  /// - Parameter status: how the daemon is, in plain words.
  package mutating func turn(_ status: String, at now: ContinuousClock.Instant) -> [String] {
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

  package mutating func stop() -> [String] {
    guard phase != .stopping else { return [] }
    phase = .stopping
    return ["STOPPING=1", Self.line("Stopping")]
  }

  /// One line, whatever a broker has said.
  private static func line(_ status: String) -> String { "STATUS=" + String(status.prefix(statusLength)).printable }
}
