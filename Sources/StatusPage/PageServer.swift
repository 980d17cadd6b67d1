import Glibc
import Logging
import ServiceLifecycle
import Settings
import Synchronization
import ThreadkeeperSupport

/// The HTTP server of the daemon: one thread, which waits for nothing but the network.
package struct PageServer: Service {
  /// Time between two attempts to listen: the address may be that of an interface that is not up yet.
  private static let retryInterval = Duration.seconds(2)

  private let configuration: PageConfiguration
  private let routes: PageRoutes
  private let table: ConnectionTable
  private let inbox = PageInbox()
  private let logger: Logger
  private let listening: @Sendable (Int) -> Void
  /// Whether it can be reached.
  package let condition = PageCondition()

  /// - Parameter listening: called with the port, when it can be reached.
  package init(
    _ configuration: PageConfiguration, source: any PageSource, logger: Logger,
    listening: @escaping @Sendable (_ port: Int) -> Void = { _ in }
  ) {
    self.configuration = configuration
    routes = PageRoutes(
      configuration, source: source,
      codeUsedUp: {
        logger.warning(
          "a wrong code was typed on the page too often, so the right one is not valid any more",
          metadata: ["tries": "\(PageCode.mostWrong)"])
      })
    table = ConnectionTable(
      most: configuration.limits.connections, healthChecks: configuration.limits.healthChecks,
      mostOfPeer: configuration.limits.connectionsOfPeer,
      unlimited: configuration.http.trustedProxy.flatMap(PeerAddress.init))
    self.logger = logger
    self.listening = listening
  }

  /// What clients have to show; nil: nothing, and nobody may change anything.
  package var token: String? { routes.access.token.current }

  /// The token, or another one, which counts from now on: answers that follow events end.
  ///
  /// - Parameter make: gives another one; may wait for the disk. One call at a time.
  package func findOrMakeToken(replacing: Bool, _ make: () throws -> String) throws -> (text: String, isNew: Bool) {
    if replacing { routes.access.code.forget() }
    let token = try routes.access.token.findOrMake(replacing: replacing, make)
    if token.isNew { routes.endViewers() }
    return token
  }

  /// Another code with which one browser gets the token; a former one is not valid any more.
  package func makeCode() -> (digits: String, minutes: Int) { (routes.access.code.make(), PageCode.minutes) }

  /// Connections that are open.
  package var connections: Int { table.count }

  /// Of them those that follow events.
  package var viewers: Int { routes.viewers }

  package func run() async throws {
    await withTaskCancellationOrGracefulShutdownHandler {
      await serve()
    } onCancelOrGracefulShutdown: { [routes, inbox] in
      routes.end()
      inbox.post(.stop)
    }
  }

  private func serve() async {
    while !Task.isShuttingDownGracefully, !Task.isCancelled,
      let obstacle = try? await SystemThread.result(of: { listen() })
    {
      report(obstacle)
      try? await cancelWhenGracefulShutdown { try await Task.sleep(for: Self.retryInterval) }
    }
  }

  /// Serves until it is to stop.
  ///
  /// - Returns: nil, or what is in its way.
  private func listen() -> PageObstacle? {
    do throws(PageObstacle) {
      let loop = try PageLoop(configuration, routes: routes, table: table, inbox: inbox)
      condition.set(.listening(port: loop.port))
      logger.notice(
        "the HTTP server listens", metadata: ["address": "\(configuration.http.address)", "port": "\(loop.port)"])
      listening(loop.port)
      loop.run()
      return nil
    } catch { return error }
  }

  private func report(_ obstacle: PageObstacle) {
    let state = PageCondition.State(obstacle, at: configuration)
    guard condition.set(state), case .unavailable(let reason, let remedy) = state else { return }
    logger.warning(
      "the HTTP server cannot listen; trying again", metadata: ["reason": "\(reason)", "remedy": "\(remedy)"])
  }
}

/// Where the server listens, and for whom.
package struct PageConfiguration: Sendable {
  /// Port 0: one that is free.
  package var http: Settings.HTTP
  /// Where programs find it that the proxy does not let in: `http://threadkeeper.home.arpa:8423/`.
  package var addressBesideProxy: String?
  /// The shared library that speaks HTTP.
  package var library = "libmicrohttpd.so.12"
  package var limits = PageLimits()

  package init(_ http: Settings.HTTP, addressBesideProxy: String? = nil) {
    (self.http, self.addressBesideProxy) = (http, addressBesideProxy)
  }
}

/// What one client, and all of them, may take of the daemon.
package struct PageLimits: Sendable {
  /// Connections at a time. Beyond, the one that has waited longest without a request makes room.
  package var connections = 256
  /// Of them those that only `/healthz` and `/readyz` keep.
  package var healthChecks = 8
  /// Of them those from one address other than loopback and the trusted proxy.
  package var connectionsOfPeer = 64
  /// Of them those that follow events; the others are left for monitoring.
  package var viewers = 224
  /// The shortest pause before the state is read again for them, in milliseconds: at most two changes a second are
  /// sent.
  package var shortestPauseMilliseconds: Int64 = 500
  /// The longest, in seconds. Where reading takes long, the pause is long.
  package var longestPauseSeconds: Int64 = 15
  /// From the connection to the end of its request, in seconds. A browser needs less than one.
  package var requestSeconds: Int64 = 10
  /// For the daemon to make the reply, in seconds: a disk may hang, and a client that has left is not noticed
  /// meanwhile.
  package var replySeconds: Int64 = 60
  /// For an answer, or one event, to leave, in seconds: then the client does not read.
  package var stallSeconds: Int64 = 10
  /// For the last bytes of each answer when the daemon ends, in milliseconds.
  package var stopMilliseconds: Int64 = 1_000
  /// The first line and all headers of a request, in bytes.
  package var headerBytes = 16_384
  /// The body of a request, in bytes.
  package var bodyBytes = 4_096
  /// Of a larger one so much is read, because a client that is still sending does not look for an answer.
  package var discardedBytes = 1_048_576

  package init() {}
}

/// What the daemon has to say.
package protocol PageSource: Sendable {
  /// From memory: it is asked for often, and also when the disk hangs.
  var readiness: Readiness { get }

  /// Reads the disk, so it takes a thread of its own. What cannot be read is left out.
  func metrics() async -> [Metric]

  /// What the page shows, as JSON without a line end and without secrets; nil where it cannot be read now. Equal for as
  /// long as there is nothing new to show.
  func state() async -> [UInt8]?

  /// - Throws: `PageRefusal`.
  func make(_ change: PageChange) async throws -> PageOutcome

  /// A page without a script in place of the one that shows `state`; nil: that one.
  ///
  /// - Parameter nonce: of the policy that allows its style.
  func document(nonce: String) async -> String?

  /// Whether somebody can have a code made.
  var takesCodes: Bool { get }
}

extension PageSource {
  package func document(nonce: String) async -> String? { nil }
  package var takesCodes: Bool { true }
}

/// Whether the server can be reached.
package final class PageCondition: Sendable {
  package enum State: Sendable, Equatable {
    case starting
    case listening(port: Int)
    /// It is tried again. What is wrong, and what to do.
    case unavailable(String, remedy: String)
  }

  private let state = Mutex(State.starting)

  package var current: State { state.withLock { $0 } }

  /// - Returns: whether it was another one before.
  @discardableResult func set(_ new: State) -> Bool {
    state.withLock { state in
      defer { state = new }
      return state != new
    }
  }
}

/// Why a server cannot be reached.
enum PageObstacle: Error {
  /// The library that speaks HTTP cannot be loaded: what the loader says.
  case library(String)
  /// The `errno` of what was asked of the system.
  case system(Int32)
}

extension PageCondition.State {
  init(_ obstacle: PageObstacle, at configuration: PageConfiguration) {
    let (address, port) = (configuration.http.address, configuration.http.port)
    self =
      switch obstacle {
      case .library(let reason):
        .unavailable("libmicrohttpd cannot be loaded: \(reason)", remedy: "Run `apt install libmicrohttpd12`.")
      case .system(EADDRINUSE):
        .unavailable(
          "port \(port) of \(address) is taken by another program",
          remedy: "Choose another `http.port` and restart, or end that program.")
      case .system(EADDRNOTAVAIL):
        .unavailable(
          "this machine has no address \(address)",
          remedy: "Correct `http.address` and restart, or bring the interface up.")
      case .system(EACCES):
        .unavailable(
          "the daemon's user may not listen on port \(port)",
          remedy: "Choose an `http.port` of 1024 or above, and restart.")
      case .system(let code): .unavailable(String(cString: strerror(code)), remedy: "It is tried again.")
      }
  }
}

/// Whether the daemon does its work, and if not, why.
package struct Readiness: Sendable, Equatable, Encodable {
  /// Something that has to work.
  package struct Check: Sendable, Equatable, Encodable {
    /// `broker`, `intake`, `store`.
    package var name: String
    package var ok: Bool
    /// What is wrong and what to do; nil where nothing is, or where it is not for whoever asks.
    package var reason: String?

    package init(_ name: String, ok: Bool, reason: String? = nil) {
      self.name = name
      self.ok = ok
      self.reason = ok ? nil : reason
    }
  }

  package var ready: Bool { checks.allSatisfy(\.ok) }
  package var checks: [Check]

  package init(_ checks: [Check]) { self.checks = checks }

  /// For somebody who may not look.
  var withoutReasons: Readiness { Readiness(checks.map { Check($0.name, ok: $0.ok) }) }

  private enum CodingKeys: String, CodingKey { case ready, checks }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(ready, forKey: .ready)
    try container.encode(checks, forKey: .checks)
  }
}

/// That the daemon answers.
struct Liveness: Encodable { var status = "ok" }
