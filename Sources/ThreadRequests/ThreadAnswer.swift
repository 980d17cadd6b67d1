// SPDX-License-Identifier: Apache-2.0

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// An answer as it is on the wire.
package struct ThreadAnswer: Codable, Hashable, Sendable {
  package enum Status: String, Codable, Sendable {
    case ok, error
  }

  /// Of the form of requests and answers. Another one is not guessed at.
  package static let version = 1

  package var v = version
  package var status: Status
  package var data: AnswerData?
  package var error: AnswerFailure?
  /// That of the request.
  package var transaction: String?

  package init(_ data: AnswerData, transaction: String? = nil) {
    self.status = .ok
    self.data = data
    self.transaction = transaction
  }

  package init(_ error: AnswerFailure, transaction: String? = nil) {
    self.status = .error
    self.error = error
    self.transaction = transaction
  }

  /// Nil for what is no answer, or one of another version.
  package init?(json: [UInt8]) {
    guard let answer = try? JSONDecoder().decode(ThreadAnswer.self, from: Data(json)),
      answer.v == Self.version
    else { return nil }
    self = answer
  }

  package var json: [UInt8] { RequestJSON.encode(self) }

  /// - Throws: the failure that it tells.
  package func result() throws(AnswerFailure) -> AnswerData {
    if let data, status == .ok { return data }
    throw error ?? AnswerFailure(.unsupported, "the daemon gives an answer that cannot be read")
  }
}
