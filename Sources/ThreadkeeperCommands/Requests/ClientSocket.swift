// SPDX-License-Identifier: Apache-2.0

import DaemonSocket
import Logging
import Settings
import ThreadRequests

/// The keeper's second socket: programs of other users bring requests there, and can bring nothing
/// else. There is none unless the settings name it.
struct ClientSocket {
  let settings: Settings
  let requests: RequestDesk
  let logger: Logger

  func listen() -> DaemonListener? {
    guard let path = settings.clients.socket else { return nil }
    let reach: DaemonListener.Admission.Reach =
      settings.clients.group.map { .group($0) } ?? .everybody
    do throws(DaemonSocketError) {
      return try DaemonListener(
        path: path,
        admission: .init(reach, refusal: Self.refusal) { [settings] in
          settings.team(ofUID: $0) != nil
        },
        onTrouble: { [logger] in
          logger.warning("a program was not let in", metadata: ["reason": "\($0.message)"])
        },
        handler: { [requests] octets, connection in
          await requests.answer(octets, connection) ?? Self.unknown
        })
    } catch {
      logger.warning(
        "programs of other users cannot reach this keeper",
        metadata: ["reason": "\(error.message)"])
      return nil
    }
  }

  private static let refusal = ThreadAnswer(
    AnswerFailure(
      .notAuthorized, "this user is no client of the keeper",
      help: "have it named in the keeper's `client_users`")
  ).forCommand.json

  /// What is not for other users is answered as if it were not there.
  private static let unknown = ThreadAnswer(
    AnswerFailure(.unsupported, "the keeper does not know this request")
  ).forCommand.json
}
