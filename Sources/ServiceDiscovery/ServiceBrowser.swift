import CLibAvahi
import Dispatch
import Glibc
import Synchronization
import ThreadkeeperSupport

/// Finds the services of one type on the local network, by DNS-SD (RFC 6763) through avahi-daemon.
///
/// It has a thread of its own. avahi-daemon may be missing, come later or restart: that is an update, not an error.
/// Where the system's D-Bus is, libdbus reads from `DBUS_SYSTEM_BUS_ADDRESS`, once in a process.
package final class ServiceBrowser: Sendable {
  /// How long `stop` waits for the thread.
  static let stopLimit = DispatchTimeInterval.seconds(2)

  private struct Run {
    var thread: SystemThread
    var loop: PollLoop
    var hasEnded: DispatchSemaphore
  }

  private let type: String
  private let limits: ServiceLimits
  private let output: BrowserOutput
  private let current = Mutex<Run?>(nil)

  /// - Parameters:
  ///   - type: such as `_meshcop._udp`.
  ///   - handler: is called on the browser's thread, one update after the other. It may block, but should not for long.
  package init(type: String, limits: ServiceLimits = .init(), handler: @escaping @Sendable (ServiceUpdate) -> Void) {
    self.type = type
    self.limits = limits
    output = BrowserOutput(handler: handler)
  }

  deinit {
    output.stop()
    current.withLock { run in
      run?.loop.quit()
      run?.thread.detach()
    }
  }

  /// Begins to browse. Call it once.
  ///
  /// - Throws: `DiscoveryObstacle`: not a service type, or the system has no thread to give.
  package func start() throws {
    guard avahi_is_valid_service_type_strict(type) != 0 else { throw DiscoveryObstacle.invalidType(type) }
    let loop = try PollLoop()
    let hasEnded = DispatchSemaphore(value: 0)
    try current.withLock { run in
      guard run == nil, !output.isStopping else { return }
      do throws(SystemThreadError) {
        let thread = try SystemThread { [type, limits, output] in
          Self.browse(type, limits, output, on: loop)
          hasEnded.signal()
        }
        run = Run(thread: thread, loop: loop, hasEnded: hasEnded)
      } catch { throw DiscoveryObstacle.noResources }
    }
  }

  /// Ends it. No update is reported afterwards, except one whose report is going on. From any thread, more than once.
  ///
  /// It waits at most 2 seconds for the thread, which may sit in a call of libdbus: for 25 seconds when avahi-daemon
  /// does not answer, and as long as a D-Bus daemon stands still that it has just connected to. Such a thread ends by
  /// itself. In the handler it takes these 2 seconds.
  package func stop() {
    output.stop()
    let run = current.withLock { run in
      defer { run = nil }
      return run
    }
    guard let run else { return }
    run.loop.quit()
    if run.hasEnded.wait(timeout: .now() + Self.stopLimit) == .success {
      run.thread.join()
    } else {
      run.thread.detach()
    }
  }

  /// How often something was not reported: a service over the limit, one with an invalid name or host, an entry of a
  /// TXT record, a change that another one followed within the minute. From any thread.
  package var refused: Int { output.refused }

  private static func browse(_ type: String, _ limits: ServiceLimits, _ output: BrowserOutput, on loop: PollLoop) {
    var pause = RetryPause()
    while !output.isStopping {
      let session = AvahiSession(type: type, limits: limits, output: output)
      if let obstacle = session.run(on: loop) { output.report(.unavailable(obstacle)) }
      if session.wasListed { pause.reset() }
      let end = ContinuousClock.now + pause.next()
      while !output.isStopping, ContinuousClock.now < end {
        // A loop that does not work must not keep a processor busy.
        if !loop.iterate(until: end) { usleep(100_000) }
      }
    }
  }
}

/// Bounds how often the changes of one service are reported: so many in each minute that begins with a change.
struct ChangePace: Sendable {
  static let minute = Duration.seconds(60)

  private var began: ContinuousClock.Instant?
  private var count = 0

  /// Whether a change may be reported now. If so, it is counted.
  mutating func admits(_ limit: Int, at now: ContinuousClock.Instant) -> Bool {
    if let began, now < began + Self.minute {
      guard count < limit else { return false }
    } else {
      began = now
      count = 0
    }
    count += 1
    return true
  }

  /// When a change that was not admitted will be.
  var nextMinute: ContinuousClock.Instant? { began.map { $0 + Self.minute } }
}

/// How long to wait before avahi-daemon is asked for again: 1 second, then twice as long each time, up to 30.
struct RetryPause: Sendable {
  static let longest = Duration.seconds(30)

  private var following = Duration.seconds(1)

  mutating func next() -> Duration {
    defer { following = min(following * 2, Self.longest) }
    return following
  }

  mutating func reset() { self = RetryPause() }
}

/// Where a browser's thread reports to, and how other threads reach it.
final class BrowserOutput: Sendable {
  private let handler: @Sendable (ServiceUpdate) -> Void
  private let stopping = Atomic(false)
  private let refusals = Atomic(0)
  /// What was reported last, if it was `unavailable`.
  private let obstacle = Mutex<DiscoveryObstacle?>(nil)

  init(handler: @escaping @Sendable (ServiceUpdate) -> Void) { self.handler = handler }

  var isStopping: Bool { stopping.load(ordering: .acquiring) }
  var refused: Int { refusals.load(ordering: .relaxed) }

  func stop() { stopping.store(true, ordering: .releasing) }

  func refuse(_ count: Int) { refusals.wrappingAdd(count, ordering: .relaxed) }

  /// Calls the handler, unless the same obstacle was reported last, or the browser was stopped.
  func report(_ update: ServiceUpdate) {
    let isNews = obstacle.withLock { last in
      guard case .unavailable(let present) = update else {
        last = nil
        return true
      }
      defer { last = present }
      return last != present
    }
    if isNews, !isStopping { handler(update) }
  }
}

/// Why services cannot be found on this machine, and what to do about it.
package struct DiscoveryObstacle: Error, Sendable, Equatable {
  /// One sentence.
  package let message: String
  /// What to do, as an imperative.
  package let remedy: String

  package init(message: String, remedy: String) {
    self.message = message
    self.remedy = remedy
  }
}

extension DiscoveryObstacle {
  static let noDaemon = DiscoveryObstacle(
    message: "avahi-daemon does not answer.", remedy: "Install and start it: `apt-get install avahi-daemon`.")

  static let noBus = DiscoveryObstacle(
    message: "The system's D-Bus does not answer, so avahi-daemon cannot be asked.",
    remedy: "Install and start both: `apt-get install dbus avahi-daemon`.")

  static let noResources = DiscoveryObstacle(
    message: "The system has no memory, thread or file descriptor left to look for services.",
    remedy: "Raise the limits of the daemon, or stop what uses them up.")

  static func invalidType(_ type: String) -> DiscoveryObstacle {
    DiscoveryObstacle(
      message: "`\(type)` is not a service type.", remedy: "Name one such as `_meshcop._udp` (RFC 6763, section 7).")
  }

  /// What an error of `avahi_client_new` means.
  ///
  /// - Parameter code: see avahi-common/error.h.
  init(ofNewClient code: Int32) {
    switch Int(code) {
    // With AVAHI_CLIENT_NO_FAIL a missing avahi-daemon is no error. Without its socket, libavahi-client calls the bus
    // "daemon"; other errors of D-Bus are a failure.
    case AVAHI_ERR_NO_DAEMON, AVAHI_ERR_FAILURE, AVAHI_ERR_DBUS_ERROR, AVAHI_ERR_DISCONNECTED: self = .noBus
    default: self.init(code: code)
    }
  }

  /// What an error of a client means that has reached the bus.
  init(code: Int32) {
    switch Int(code) {
    case AVAHI_ERR_DISCONNECTED, AVAHI_ERR_NO_DAEMON, AVAHI_ERR_FAILURE, AVAHI_ERR_DBUS_ERROR: self = .noDaemon
    case AVAHI_ERR_NO_MEMORY: self = .noResources
    default:
      self.init(
        message: "avahi-daemon refuses to look for services: \(String(cString: avahi_strerror(code))).",
        remedy: "See its log: `journalctl --unit avahi-daemon`.")
    }
  }
}
