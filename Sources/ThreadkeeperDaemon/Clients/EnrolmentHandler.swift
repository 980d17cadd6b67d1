// SPDX-License-Identifier: Apache-2.0

import ClientEnrolment
import Logging

/// Answers `clients …` in the daemon.
typealias EnrolmentHandler = DaemonRequestHandler<EnrolmentRequest>

extension EnrolmentHandler {
  /// - Parameter enrolments: those of the intake, so that a revocation counts from the next message on.
  init(_ enrolments: ClientEnrolmentStore, logger: Logger) {
    self.init(queue: "clients") { request, user in
      let service = EnrolmentService(enrolments: enrolments, actor: OpenStore.actor(user: user))
      let report = try service.answer(request)
      Self.log(request, report, to: logger)
      return report
    }
  }

  private static func log(
    _ request: EnrolmentRequest, _ report: EnrolmentReport, to logger: Logger
  ) {
    let message: Logger.Message
    switch request.command {
    case .enroll: message = "a client is enrolled"
    case .revoke: message = "a client's enrolment is revoked"
    case .list, .fingerprint: return
    }
    var metadata: Logger.Metadata = [
      "home": "\(request.home ?? "")", "user": "\(request.user ?? "")",
    ]
    metadata["fingerprint"] = (report.clients?.first?.fingerprint).map { "\($0)" }
    logger.notice(message, metadata: metadata)
  }
}
