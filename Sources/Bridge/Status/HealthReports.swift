import Broker
import Home
import HomeStore
import Synchronization

/// `bridge/health`: with each connection, when the intake has changed, and once a minute.
final class HealthReports: Sendable {
  private struct State {
    var next: WireTime?
    var published: DaemonStatus.Intake?
  }

  private let loop: HomeLoop
  private let publisher: Publisher
  private let requests: RequestService
  private let monitor: BridgeMonitor
  private let lastBackup: @Sendable () -> WireTime?
  private let clock: any Clock
  /// By the clock that nobody sets.
  private let startedAt: Int64
  private let state = Mutex(State())

  init(
    _ loop: HomeLoop, _ publisher: Publisher, _ requests: RequestService, _ monitor: BridgeMonitor,
    lastBackup: @escaping @Sendable () -> WireTime?, clock: any Clock
  ) {
    self.lastBackup = lastBackup
    self.loop = loop
    self.publisher = publisher
    self.requests = requests
    self.monitor = monitor
    self.clock = clock
    startedAt = clock.moment().steady
  }

  /// It is due now: a connection was made, or the clock was set.
  func restart() { state.withLock { $0.next = nil } }

  /// What the bridge knows of itself now.
  var status: DaemonStatus {
    DaemonStatus(
      monitor.snapshot, loop.homes.counts, requests.figures, waiting: publisher.waiting,
      uptime: clock.moment().steady - startedAt)
  }

  func publish(at now: WireTime) {
    let known = monitor.snapshot
    guard known.statusLink.isConnected else { return }
    let isDue = state.withLock { state in
      guard state.published != known.intake || state.next.map({ $0 <= now }) ?? true else { return false }
      state.published = known.intake
      state.next = now.adding(seconds: BridgeHealth.intervalSeconds)
      return true
    }
    guard isDue else { return }
    var status = status
    status.lastBackup = lastBackup()
    publisher.publish(BridgeHealth(status: status))
  }
}
