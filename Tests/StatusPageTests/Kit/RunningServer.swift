// SPDX-License-Identifier: Apache-2.0

import Logging
import ServiceLifecycle
import StatusPage
import TestKit

/// A server that runs for as long as a test uses it.
struct RunningServer {
  let server: PageServer
  let port: Int
  let source: FixedSource
  private let group: ServiceGroup
  private let running: Task<Void, any Error>

  static func start(
    _ source: FixedSource = FixedSource(), port: Int = 0, token: String? = nil,
    trustedProxy: String? = nil,
    _ change: (inout PageLimits) -> Void = { _ in }
  ) async throws -> RunningServer {
    var configuration = PageConfiguration(
      address: "127.0.0.1", port: port, token: token, trustedProxy: trustedProxy)
    change(&configuration.limits)
    let (ports, listening) = AsyncStream.makeStream(of: Int.self)
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    let server = PageServer(configuration, source: source, logger: logger) { listening.yield($0) }
    let group = ServiceGroup(services: [server], logger: logger)
    let running = Task { try await group.run() }
    for await port in ports {
      return RunningServer(
        server: server, port: port, source: source, group: group, running: running)
    }
    throw CancellationError()
  }

  /// Ends it as the daemon does.
  func stop() async throws {
    await group.triggerGracefulShutdown()
    try await running.value
  }

  func connect() async throws -> RawConnection { try await RawConnection(port: port) }

  /// The whole answer to a request on a connection of its own.
  func answer(_ request: String) async throws -> RawAnswer {
    let connection = try await connect()
    try await connection.send(request)
    return try RawAnswer(await connection.readToEnd())
  }

  func get(_ path: String, _ headers: String...) async throws -> RawAnswer {
    try await RawAnswer.get(path, port: port, headers)
  }
}
