// SPDX-License-Identifier: Apache-2.0

import DaemonSocket
import Logging
import ServiceLifecycle
import Settings

/// The sockets of requests, exports and imports, and who answers what comes there: the first one that knows the request.
package struct DaemonSockets: Service {
  let settings: Settings
  /// For programs, too.
  let requests: RequestHandler
  /// Of exports and imports.
  let store: StoreService
  let logger: Logger

  /// Time between two attempts to make a socket: too few file descriptors, or a directory that is not
  /// there yet, may pass.
  private static let retryInterval = Duration.seconds(2)

  /// That of commands.
  package static func path(_ settings: Settings) -> String { settings.store.path + "/daemon.sock" }

  package func run() async throws {
    let clientSocket = ClientSocket(settings: settings, requests: requests)
    var commands: DaemonListener?
    var programs: DaemonListener?
    var failures: [String: String] = [:]
    /// Nil where it failed, which is logged when the reason is another than before.
    func attempt(
      _ failure: String, _ make: () throws(DaemonSocketError) -> DaemonListener?
    ) -> DaemonListener? {
      do throws(DaemonSocketError) {
        let listener = try make()
        if listener != nil, failures.removeValue(forKey: failure) != nil {
          logger.notice("a socket is there now", metadata: ["before": "\(failure)"])
        }
        return listener
      } catch {
        if failures.updateValue(error.message, forKey: failure) != error.message {
          logger.warning("\(failure); trying again", metadata: ["reason": "\(error.message)"])
        }
        return nil
      }
    }
    while !Task.isShuttingDownGracefully, !Task.isCancelled {
      commands = commands ?? attempt(Self.noCommands, listen)
      programs =
        programs
        ?? attempt(ClientSocket.noPrograms) { () throws(DaemonSocketError) -> DaemonListener? in
          try clientSocket.listen(logger: logger)
        }
      guard !failures.isEmpty else { break }
      try? await cancelWhenGracefulShutdown { try await Task.sleep(for: Self.retryInterval) }
    }
    try? await gracefulShutdown()
    await programs?.finish()
    await commands?.finish()
  }

  private static let noCommands =
    "commands cannot reach this daemon; `credentials`, `preferred` and `store export` do not work beside it"

  private func listen() throws(DaemonSocketError) -> DaemonListener {
    var admission = DaemonListener.Admission.owner
    admission.complaint = ClientAdmission.complaint
    admission.noPlace = ClientAdmission.noPlace
    return try DaemonListener(
      path: Self.path(settings), admission: admission,
      onTrouble: { [logger] in
        logger.warning("a command was not let in", metadata: ["reason": "\($0.message)"])
      },
      handler: {
        [requests, store, logger] bytes, connection in
        logger.debug(
          "a request on the socket", metadata: ["user": "\(connection.peer.user)"])
        if let answer = await requests.answer(bytes, connection, nil) { return answer }
        if let answer = await store.answer(bytes, connection) { return answer }
        return (try? StoreAnswer(DaemonAnswerForm.unknown).bytes) ?? []
      })
  }
}
