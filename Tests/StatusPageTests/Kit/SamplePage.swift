import Logging
import ServiceLifecycle
import Settings
import StatusPage
import Synchronization
import TestKit

/// What a page asks for.
let sampleToken = "0123456789abcdef"

/// A daemon that says what a test wants.
final class FixedSource: PageSource {
  private let kept = Mutex(Readiness([.init("broker", ok: true), .init("store", ok: true)]))

  var readiness: Readiness {
    get { kept.withLock { $0 } }
    set { kept.withLock { $0 = newValue } }
  }

  let asked = Mutex(0)
  /// What the page is to show.
  let shown = Mutex<[UInt8]?>(Array("{}".utf8))
  let looks = Mutex(0)

  let changes = Mutex<[PageChange]>([])
  let refusal = Mutex<PageRefusal?>(nil)
  let outcome = Mutex<PageOutcome>("Done.")

  var made: [PageChange] { changes.withLock { $0 } }

  func show(_ state: String) { shown.withLock { $0 = Array(state.utf8) } }

  /// What a page answers that shows this.
  func reply(to request: PageRequest, token: String? = nil, _ change: (inout PageConfiguration) -> Void = { _ in })
    async -> PageReply
  {
    var configuration = PageConfiguration(port: 1, token: token)
    change(&configuration)
    return await PageRoutes(configuration, source: self).reply(to: request)
  }

  func make(_ change: PageChange) async throws -> PageOutcome {
    if let refusal = refusal.withLock({ $0 }) { throw refusal }
    changes.withLock { $0.append(change) }
    return outcome.withLock { $0 }
  }

  func state() async -> [UInt8]? {
    looks.withLock { $0 += 1 }
    return shown.withLock { $0 }
  }

  func metrics() async -> [Metric] {
    asked.withLock { $0 += 1 }
    return [Metric(.gauge, "threadkeeper_test", "For a test.", 1)]
  }
}

extension PageConfiguration {
  /// On 127.0.0.1.
  init(port: UInt16, token: String? = nil) {
    self.init(Settings.HTTP())
    (http.port, http.token) = (port, token.map { SecretText($0) })
  }
}

extension PageReply {
  var text: String { String(decoding: body, as: UTF8.self) }

  func values(_ header: String) -> [String] { headers.filter { $0.name == header }.map(\.value) }
}

/// A server that runs for as long as a test uses it.
struct RunningServer {
  let server: PageServer
  let port: Int
  let source: FixedSource
  private let group: ServiceGroup
  private let running: Task<Void, any Error>

  static func start(
    _ source: FixedSource = FixedSource(), port: UInt16 = 0, token: String? = nil, trustedProxy: String? = nil,
    _ change: (inout PageLimits) -> Void = { _ in }
  ) async throws -> RunningServer {
    var configuration = PageConfiguration(port: port, token: token)
    configuration.http.trustedProxy = trustedProxy
    change(&configuration.limits)
    let (ports, listening) = AsyncStream.makeStream(of: Int.self)
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    let server = PageServer(configuration, source: source, logger: logger) { listening.yield($0) }
    let group = ServiceGroup(services: [server], logger: logger)
    let running = Task { try await group.run() }
    for await port in ports {
      return RunningServer(server: server, port: port, source: source, group: group, running: running)
    }
    throw CancellationError()
  }

  /// Ends it as the daemon does.
  func stop() async throws {
    await group.triggerGracefulShutdown()
    try await running.value
  }

  func connect() async throws -> RawConnection { try await RawConnection(port: port) }

  /// A connection that has sent this, with `Host: localhost` after its first line.
  ///
  /// - Parameter more: headers and body.
  func request(_ line: String, _ more: String = "\r\n") async throws -> RawConnection {
    let connection = try await connect()
    try await connection.send("\(line)\r\nHost: localhost\r\n\(more)")
    return connection
  }

  /// The whole answer to it.
  func answer(_ line: String, _ more: String = "\r\n") async throws -> RawAnswer {
    try RawAnswer(await request(line, more).readToEnd())
  }

  func get(_ path: String, _ headers: String...) async throws -> RawAnswer {
    try await RawAnswer.get(path, port: port, headers)
  }
}
