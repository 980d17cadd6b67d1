// SPDX-License-Identifier: Apache-2.0

import ConsentLedger
import KeychainCore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What the daemon answers to a command: the form of an answer over MQTT, and a number for the exit status.
package struct DaemonAnswer<Report: Codable & Sendable>: Codable, Sendable {
  package var v = DaemonRequestVersion.current
  package var status: DaemonAnswerForm.Status
  package var error: DaemonAnswerForm.Failure?
  package var data: Report?

  init(_ report: Report) {
    status = .ok
    data = report
  }

  init(_ failure: CommandFailure) {
    status = .error
    error = DaemonAnswerForm.Failure(failure)
  }

  /// Whatever has gone wrong.
  init(failing error: any Error) {
    switch error {
    case let failure as CommandFailure: self.init(failure)
    case let error as KeychainError: self.init(CommandFailure(error))
    case let refusal as ConsentRefusal:
      self.init(CommandFailure(refusal))
      self.error?.code = refusal.code.rawValue
    default: self.init(CommandFailure(.inputOutput, "the store refuses it: \(error)"))
    }
  }

  /// Instead of what no message on the socket can hold.
  package static var tooLarge: Self {
    var answer = Self(
      CommandFailure(
        .usage, "the answer is larger than a message of the running daemon may be",
        remedy: "ask for less, where the command has a limit"))
    answer.error?.code = DaemonAnswerForm.tooLarge
    return answer
  }

  package var bytes: [UInt8] { get throws { try Array(JSONEncoder().encode(self)) } }

  package init(reading bytes: Data) throws(CommandFailure) {
    guard let answer = try? JSONDecoder().decode(Self.self, from: bytes) else {
      throw DaemonAnswerForm.unreadable
    }
    self = answer
  }

  package static func result(_ bytes: Data) throws(CommandFailure) -> Report {
    try Self(reading: bytes).result()
  }

  /// What the answer comes to.
  package func result() throws(CommandFailure) -> Report {
    guard v == DaemonRequestVersion.current else { throw DaemonAnswerForm.unreadable }
    if let data, status == .ok { return data }
    guard let error else { throw DaemonAnswerForm.unreadable }
    throw CommandFailure(
      ExitStatus(rawValue: error.exit) ?? .software, error.message, remedy: error.help)
  }
}
