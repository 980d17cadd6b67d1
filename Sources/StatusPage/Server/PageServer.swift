// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle

/// The HTTP server of the daemon: one thread, which waits for nothing but the network.
package struct PageServer: Service {
  /// Time between two attempts to listen: the address may be that of an interface that is not up yet.
  private static let retryInterval = Duration.seconds(2)
  /// Made with the first server, and never ended: what a server leaves on it is a matter of moments.
  private static let threads = MultiThreadedEventLoopGroup(numberOfThreads: 1)

  private let configuration: PageConfiguration
  private let routes: PageRoutes
  private let table: ConnectionTable
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
    routes = PageRoutes(configuration, source: source)
    table = ConnectionTable(
      most: configuration.limits.connections,
      healthChecks: configuration.limits.healthChecks,
      mostOfPeer: configuration.limits.connectionsOfPeer,
      unlimited: configuration.trustedProxy.flatMap(PeerAddress.init))
    self.logger = logger
    self.listening = listening
  }

  /// Connections that are open.
  package var connections: Int { table.count }

  /// Of them those that follow events.
  package var viewers: Int { routes.viewers }

  package func run() async throws {
    await withGracefulShutdownHandler {
      await serve()
    } onGracefulShutdown: { [routes, table, stop = configuration.limits.stopMilliseconds] in
      routes.end()
      Self.threads.next().scheduleTask(in: .milliseconds(stop)) { table.closeAll() }
    }
  }

  private func serve() async {
    while !Task.isShuttingDownGracefully, !Task.isCancelled {
      do {
        return try await server.run()
      } catch {
        let state = PageCondition.State(failure: error, at: configuration)
        if condition.set(state), case .unavailable(let reason, let remedy) = state {
          logger.warning(
            "the HTTP server cannot listen; trying again",
            metadata: ["reason": "\(reason)", "remedy": "\(remedy)"])
        }
        try? await cancelWhenGracefulShutdown { try await Task.sleep(for: Self.retryInterval) }
      }
    }
  }

  private var server: Server<HTTP1Channel> {
    let limits = configuration.limits
    var decoder = HTTP1Channel.Configuration.DecoderConfiguration()
    decoder.maxHeaderFieldSize = limits.headerBytes
    decoder.maxHeaderListSize = limits.headerBytes
    decoder.maxHeaderFieldCount = limits.headerFields
    let channel = HTTP1Channel(
      responder: { [self] request, writer, channel in
        try await respond(to: request, writer, on: channel)
      },
      configuration: .init(
        additionalChannelHandlers: [ConnectionGuard(table: table, limits: limits)],
        httpDecoderConfiguration: decoder))
    return Server(
      childChannelSetup: channel,
      configuration: ServerConfiguration(
        address: .hostname(configuration.address, port: configuration.port)),
      onServerRunning: { [self] channel in
        let port = channel.localAddress?.port ?? configuration.port
        condition.set(.listening(port: port))
        logger.notice(
          "the HTTP server listens",
          metadata: ["address": "\(configuration.address)", "port": "\(port)"])
        listening(port)
      },
      eventLoopGroup: Self.threads,
      // It logs what any client can bring about.
      logger: Logger(label: "threadkeeper.http") { _ in SwiftLogNoOpLogHandler() })
  }

  private func respond(
    to request: Request, _ writer: consuming ResponseWriter, on channel: any Channel
  ) async throws {
    let reply: PageReply
    do {
      let body = try await request.body.collect(upTo: configuration.limits.bodyBytes)
      reply = await routes.reply(
        to: PageRequest(
          request, body: Array(body.readableBytesView), peer: channel.remoteAddress?.ipAddress))
    } catch is NIOTooManyBytesError {
      reply = .text(.tooLarge, "a request has at most \(configuration.limits.bodyBytes) bytes")
    }
    if let viewer = reply.viewer {
      channel.closeFuture.whenComplete { _ in viewer.leave() }
      defer { viewer.leave() }
      var body = try await writer.writeHead(HTTPResponse(reply))
      for await frame in viewer.frames { try await body.write(ByteBuffer(bytes: frame)) }
      return try await body.finish(nil)
    }
    let isHead = request.method == .head
    try await writer.write(
      response: HTTPResponse(reply),
      body: isHead || reply.body.isEmpty
        ? .init() : .init(byteBuffer: ByteBuffer(bytes: reply.body)))
  }
}
