import Bridge
import Glibc
import LocalAPI
import Logging
import ServiceLifecycle
import Settings
import StatusPage

/// The daemon's local API: `varlink.sock` in the store's directory, for this user and root; and `readers.sock` for
/// members of the daemon's group, who may look at what shows no secret. See docs/reference/local-api.md.
package struct LocalAPISocket: Service {
  let settings: Settings
  let handlers: [any LocalAPIHandler]
  let logger: Logger
  /// How long a method took.
  var finished: @Sendable (_ method: String, Duration) -> Void = { _, _ in }
  /// Where the daemon's group is served; nil: this is the socket of the owner.
  private(set) var readersPath: String?

  package static func path(_ settings: Settings) -> String { settings.store.path + "/varlink.sock" }

  /// Of both sockets.
  static let information = VarlinkService.Information(
    vendor: "threadkeeper", product: "threadkeeper", version: threadkeeperVersion, url: "")

  /// The same for members of the daemon's group, in the directory that systemd has made for it
  /// (`RuntimeDirectory=`); nil without one.
  func forReaders(environment: [String: String]) -> LocalAPISocket? {
    guard let directory = environment["RUNTIME_DIRECTORY"]?.split(separator: ":").first, directory.hasPrefix("/") else {
      return nil
    }
    var socket = self
    socket.readersPath = "\(directory)/readers.sock"
    return socket
  }

  var service: VarlinkService {
    VarlinkService(
      Self.information, interfaces: [.threadkeeper] + handlers.map(\.interface),
      endpoints: handlers.flatMap(\.endpoints), failure: { VarlinkError(failing: $0) }, finished: finished)
  }

  package func run() async throws {
    await SocketLife(failure: "the local API cannot be reached", logger: logger).run {
      () throws(SocketError) -> VarlinkServer in try listen()
    }
  }

  private func listen() throws(SocketError) -> VarlinkServer {
    var limits = readersPath == nil ? VarlinkLimits.owner : VarlinkLimits()
    limits.noPlace = .tooManyConnections
    return try VarlinkServer(
      path: readersPath ?? Self.path(settings), reach: readersPath == nil ? .owner : .group(getegid()), limits: limits,
      service: service,
      judge: { [logger, readersPath] in
        logger.debug("a connection to the local API", metadata: ["user": "\($0.user)"])
        let verdict = VarlinkServer.ownerOnly($0)
        // The kernel lets nobody else connect there than the group.
        guard readersPath != nil, case .refused = verdict else { return verdict }
        return .admitted(.reader)
      },
      onTrouble: { [logger] in
        logger.warning("a client of the local API was not let in", metadata: ["reason": "\($0.message)"])
      })
  }
}

extension LocalAPISocket {
  /// Of this process, with the table of all that can be asked: a handler for each interface.
  ///
  /// - Parameters:
  ///   - port: of the broker; nil: as the settings have it.
  ///   - page: nil where there is none.
  package init(_ operations: OperationContext, port: UInt16? = nil, page: PageServer? = nil) {
    var operations = operations
    operations.page = page
    let (settings, bridge) = (operations.settings, operations.bridge)
    self.init(
      settings: settings,
      handlers: [StatusHandler(context: operations, port: port), OperationHandler(operations)]
        + RequestHandler.all(settings, bridge: bridge), logger: operations.logger)
    finished = { [figures = bridge.monitor.figures] method, duration in
      if method != OperationHandler.method { figures.localCalls.add(duration, to: method) }
    }
  }
}

/// Answers the methods of one interface: decodes, checks and encodes. It has no rules of its own.
protocol LocalAPIHandler: Sendable {
  var interface: VarlinkInterface { get }
  /// A row for each method of the interface.
  var endpoints: [VarlinkEndpoint] { get }
}

/// Sends a reply now, and again whenever it has changed, until the caller goes or the daemon ends.
///
/// - Parameters:
///   - interval: from one look to the next.
///   - look: makes the reply.
/// - Throws: what `look` throws; `CancellationError`.
func sendChanges<Reply: Encodable>(
  every interval: Duration, to replies: VarlinkReplies<Reply>, of look: () throws -> Reply
) throws -> Never {
  var last = ""
  while true {
    let reply = try look()
    let text = try JSONText.line(reply)
    if text != last { try replies.send(reply) }
    last = text
    try replies.wait(for: interval)
  }
}

/// A socket of the daemon, from its start to its graceful end.
struct SocketLife {
  /// Time between two attempts to make it: too few open files, or a directory that is not there yet, may pass.
  private static let retryInterval = Duration.seconds(2)

  /// What is logged while it cannot be made.
  let failure: String
  let logger: Logger

  func run(_ listen: () throws(SocketError) -> VarlinkServer) async {
    var server: VarlinkServer?
    var reason: String?
    while server == nil, !Task.isShuttingDownGracefully, !Task.isCancelled {
      do {
        server = try listen()
        if let reason {
          logger.notice("a socket is there now", metadata: ["before": "\(failure)", "reason": "\(reason)"])
        }
      } catch {
        if error.message != reason {
          logger.warning("\(failure); trying again", metadata: ["reason": "\(error.message)"])
        }
        reason = error.message
        try? await cancelWhenGracefulShutdown { try await Task.sleep(for: Self.retryInterval) }
      }
    }
    try? await gracefulShutdown()
    await server?.finish()
  }
}
