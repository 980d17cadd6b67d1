// SPDX-License-Identifier: Apache-2.0

import ClientEnrolment
import Logging
import Settings
import VarlinkSocket

/// Answers `io.threadkeeper.Clients` in the daemon.
struct EnrolmentHandler: LocalAPIHandler {
  let settings: Settings
  /// Those of the intake, so that a revocation counts from the next message on.
  let enrolments: ClientEnrolmentStore
  let logger: Logger
  private let queue = HandlerQueue("clients")

  init(_ settings: Settings, enrolments: ClientEnrolmentStore, logger: Logger) {
    self.settings = settings
    self.enrolments = enrolments
    self.logger = logger
  }

  var interface: VarlinkInterface { .clients }

  var endpoints: [VarlinkEndpoint] {
    [
      ClientsMethods.enroll.answered { request, caller in
        let report = try await fulfil(for: caller) { try $0.enroll(request) }
        log(
          "a client is enrolled", of: request.user, in: request.home,
          fingerprint: report.clients?.first?.fingerprint)
        return report
      },
      ClientsMethods.list.answered { request, caller in
        try await fulfil(for: caller) { try $0.list(request.home) }
      },
      ClientsMethods.revoke.answered { request, caller in
        try await fulfil(for: caller) { try $0.revoke(request) }
        log("a client's enrolment is revoked", of: request.user, in: request.home)
        return VarlinkNothing()
      },
    ]
  }

  private func fulfil<R: Sendable>(
    for caller: VarlinkCaller, _ body: @escaping @Sendable (EnrolmentService) throws -> R
  ) async throws -> R {
    try await queue.run { [settings, enrolments] in
      try body(
        EnrolmentService(
          settings: settings, enrolments: enrolments,
          actor: OpenStore.actor(user: caller.peer.user)))
    }
  }

  private func log(
    _ message: Logger.Message, of user: String, in home: String, fingerprint: String? = nil
  ) {
    var metadata: Logger.Metadata = ["home": "\(home)", "user": "\(user)"]
    metadata["fingerprint"] = fingerprint.map { "\($0)" }
    logger.notice(message, metadata: metadata)
  }
}
