// SPDX-License-Identifier: Apache-2.0

import DaemonSocket
import Logging
import Settings
import ThreadRequests

/// The daemon's second socket: programs of other users bring requests there, and can bring nothing
/// else. There is none unless the settings name it.
struct ClientSocket {
  let settings: Settings
  let requests: RequestHandler

  static let noPrograms = "programs of other users cannot reach this daemon"

  /// - Returns: nil where the settings name none.
  func listen(logger: Logger) throws(DaemonSocketError) -> DaemonListener? {
    guard let path = settings.clients.socket else { return nil }
    let door = ClientAdmission(
      team: { [settings] in settings.team(ofUID: $0) },
      items: { [requests] in requests.itemCount() },
      refused: { [requests] in requests.refused() })
    var admission = DaemonListener.Admission(
      settings.clients.group.map { .group($0) } ?? .everybody
    ) { door.judge($0) }
    admission.complaint = ClientAdmission.complaint
    admission.noPlace = ClientAdmission.noPlace
    return try DaemonListener(
      path: path, admission: admission,
      onTrouble: { [logger] in
        logger.warning("a program was not let in", metadata: ["reason": "\($0.message)"])
      },
      handler: { [requests, logger] bytes, connection in
        logger.debug(
          "a request on the socket", metadata: ["user": "\(connection.peer.user)"])
        return await requests.answer(bytes, connection, door) ?? Self.unknown
      })
  }

  /// What is not for other users is answered as if it were not there.
  private static let unknown = ThreadAnswer(
    AnswerFailure(.unsupported, "the daemon does not know this request")
  ).forCommand.json
}
