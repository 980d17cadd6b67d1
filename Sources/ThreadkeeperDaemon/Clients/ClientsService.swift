// SPDX-License-Identifier: Apache-2.0

import ClientEnrolment
import DaemonSocket
import Dispatch
import Logging

/// Answers `clients …` in the running keeper, with the enrolments that its intake looks at: so a
/// revocation counts from the next message on.
final class ClientsService: Sendable {
  private let enrolments: ClientEnrolmentStore
  private let logger: Logger
  private let turns = DispatchQueue(label: "threadkeeper.clients")

  init(_ enrolments: ClientEnrolmentStore, logger: Logger) {
    self.enrolments = enrolments
    self.logger = logger
  }

  /// - Returns: nil when it is no request of this kind.
  func answer(_ octets: [UInt8], from peer: SocketPeer) async -> [UInt8]? {
    guard let request = ClientsRequest(octets: octets) else { return nil }
    return await request.answer(on: turns) { [self] in
      let work = ClientsWork(enrolments: enrolments, actor: OpenStore.actor(user: peer.user))
      let report = try work.answer(request)
      tell(request, report)
      return report
    }
  }

  private func tell(_ request: ClientsRequest, _ report: ClientsReport) {
    let words: Logger.Message
    switch request.command {
    case .enroll: words = "a client is enrolled"
    case .revoke: words = "a client's enrolment is revoked"
    case .list, .fingerprint: return
    }
    var metadata: Logger.Metadata = [
      "home": "\(request.home ?? "")", "user": "\(request.user ?? "")",
    ]
    metadata["fingerprint"] = (report.clients?.first?.fingerprint).map { "\($0)" }
    logger.notice(words, metadata: metadata)
  }
}
