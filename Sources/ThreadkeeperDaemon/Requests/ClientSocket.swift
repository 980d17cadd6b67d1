// SPDX-License-Identifier: Apache-2.0

import Bridge
import Logging
import ServiceLifecycle
import Settings
import VarlinkSocket

/// The daemon's second socket: programs of other users bring requests there, and can bring nothing else. There is none
/// unless the settings name it.
package struct ClientSocket: Service {
  let settings: Settings
  let requests: RequestService
  /// How long a method took.
  var finished: @Sendable (_ method: String, Duration) -> Void = { _, _ in }
  let logger: Logger

  private var admission: ClientAdmission {
    ClientAdmission(
      team: { [settings] in settings.team(ofUID: $0) },
      items: { [requests] in requests.itemCount() },
      refused: { [requests] in requests.countRefusal() })
  }

  /// What is not for other users is answered as if it were not there.
  private func service(_ admission: ClientAdmission) -> VarlinkService {
    let handlers = RequestHandler.all(settings, requests: requests, admission: admission)
    return VarlinkService(
      LocalAPISocket.information, interfaces: [.threadkeeper] + handlers.map(\.interface),
      endpoints: handlers.flatMap(\.endpoints),
      gate: { admission.refusal(ofCallBy: $0.peer.user, $0.session) },
      failure: { VarlinkError(failing: $0) }, finished: finished)
  }

  package func run() async throws {
    guard let path = settings.clients.socket else {
      try? await gracefulShutdown()
      return
    }
    await SocketLife(failure: "programs of other users cannot reach this daemon", logger: logger)
      .run { () throws(SocketError) -> VarlinkServer in try listen(path) }
  }

  private func listen(_ path: String) throws(SocketError) -> VarlinkServer {
    let admission = self.admission
    var limits = VarlinkLimits()
    limits.noPlace = .tooManyConnections
    return try VarlinkServer(
      path: path, reach: .everybody, limits: limits, service: service(admission),
      judge: { [logger] in
        logger.debug("a connection of a program", metadata: ["user": "\($0.user)"])
        return admission.judge($0.user)
      },
      onTrouble: { [logger] in
        logger.warning("a program was not let in", metadata: ["reason": "\($0.message)"])
      })
  }
}
