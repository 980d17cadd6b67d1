// SPDX-License-Identifier: Apache-2.0

import DaemonSocket
import Logging
import ServiceLifecycle
import Settings

/// The keeper's sockets, and who answers what comes there: the first one that knows the request.
struct KeeperSockets: Service {
  let settings: Settings
  let consents: ConsentService
  let requests: RequestDesk
  let clients: ClientsService
  let routers: RoutersHandler
  let store: StoreService
  let logins: BrokerLoginService
  let logger: Logger

  func run() async throws {
    let commands = listen()
    let programs = ClientSocket(settings: settings, requests: requests, logger: logger).listen()
    try? await gracefulShutdown()
    await programs?.finish()
    await commands?.finish()
  }

  private func listen() -> DaemonListener? {
    var admission = DaemonListener.Admission.owner
    admission.complaint = ClientAdmission.complaint
    do throws(DaemonSocketError) {
      return try DaemonListener(
        path: RunningKeeper.socketPath(settings), admission: admission,
        onTrouble: { [logger] in
          logger.warning("a command was not let in", metadata: ["reason": "\($0.message)"])
        },
        handler: { [store, clients, routers, consents, requests, logins, logger] request, connection in
          logger.debug(
            "a request on the socket", metadata: ["user": "\(connection.peer.user)"])
          if let answer = await consents.answer(request, from: connection.peer) { return answer }
          if let answer = await requests.answer(request, connection) { return answer }
          if let answer = await clients.answer(request, from: connection.peer) { return answer }
          if let answer = await routers.answer(request, from: connection.peer) { return answer }
          if let answer = await store.answer(request, connection) { return answer }
          return (try? await logins.answer(request, connection).octets) ?? []
        })
    } catch {
      logger.warning(
        "commands cannot reach this keeper; `login`, `keys`, `lock` and `consent` do not work beside it",
        metadata: ["reason": "\(error.message)"])
      return nil
    }
  }
}
