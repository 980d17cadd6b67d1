// SPDX-License-Identifier: Apache-2.0

import ClientEnrolment
import DaemonSocket
import Dispatch
import KeychainCore
import Logging

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Answers `clients …` in the running keeper, with the enrolments that its intake looks at: so a
/// revocation counts from the next message on.
final class ClientsService: Sendable {
  private let enrolments: ClientEnrolmentStore
  private let logger: Logger
  /// On a thread of the system's: a commit waits for the disk, and Swift has few threads.
  private let turns = DispatchQueue(label: "threadkeeper.clients")

  init(_ enrolments: ClientEnrolmentStore, logger: Logger) {
    self.enrolments = enrolments
    self.logger = logger
  }

  /// - Returns: nil when it is no request of this kind.
  func answer(_ octets: [UInt8], from peer: SocketPeer) async -> [UInt8]? {
    guard let request = try? JSONDecoder().decode(ClientsRequest.self, from: Data(octets)) else {
      return nil
    }
    return await withCheckedContinuation { (done: CheckedContinuation<[UInt8], Never>) in
      turns.async {
        let answer = self.answerNow(request, actor: "command of user \(peer.user)")
        done.resume(returning: (try? answer.octets) ?? [])
      }
    }
  }

  private func answerNow(_ request: ClientsRequest, actor: String) -> ClientsAnswer {
    do {
      try DaemonRequest.check(version: request.v)
      let report = try ClientsWork(enrolments: enrolments, actor: actor).answer(request)
      tell(request, report)
      return ClientsAnswer(report)
    } catch let failure as CommandFailure {
      return ClientsAnswer(failure)
    } catch let error as KeychainError {
      return ClientsAnswer(CommandFailure(error))
    } catch {
      return ClientsAnswer(CommandFailure(.inputOutput, "the store refuses it: \(error)"))
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
