// SPDX-License-Identifier: Apache-2.0

import Broker
import CredentialService
import Foundation
import TestKit
import Testing
import ThreadDataset
import ThreadRequests

@testable import Bridge

/// An answer as it would be published.
struct Answered {
  let publication: Publication
  let answer: ThreadAnswer

  var data: AnswerData? { answer.data }
  var code: String? { answer.error?.code }
}

extension TestBridge {
  func request(
    _ command: String, user: String = "anna", base: String = "threadkeeper",
    _ fields: [String: Any] = [:]
  ) throws -> IncomingMessage {
    IncomingMessage(
      topic: "\(base)/in/\(user)/request/\(command)",
      payload: Array(try JSONSerialization.data(withJSONObject: fields)))
  }

  /// One request, one batch.
  func ask(
    _ command: RequestCommand, user: String = "anna", base: String = "threadkeeper",
    _ fields: [String: Any] = [:]
  ) throws -> Answered {
    try receive([try request(command.rawValue, user: user, base: base, fields)])
    return try #require(published.first)
  }

  /// What the last batch answers on the broker.
  var published: [Answered] {
    answers.compactMap {
      guard case .publication(let publication, _) = $0,
        let answer = ThreadAnswer(json: publication.payload)
      else { return nil }
      return Answered(publication: publication, answer: answer)
    }
  }

  /// Has a user store a dataset for a router.
  func storeCredentials(
    _ agent: String, _ network: SampleNetwork, at seconds: UInt64, user: String = "anna"
  ) throws -> Answered {
    try ask(
      .storeCredentials, user: user,
      ["border_agent_id": agent, "dataset": try network.dataset(at: seconds).hex])
  }

  /// By the daemon's own user, beside the broker.
  func command(_ request: ThreadRequest) throws -> ThreadAnswer {
    let service = try RequestService(
      configuration, keychain: temporary.keychain, parts: parts, clock: clock)
    let outcome = service.answer(
      request, from: .systemUser(1000), team: "uid/1000", isAdministrator: true)
    guard case .answer(let answer) = outcome else { throw NoAnswer() }
    return answer
  }

  /// - Returns: whether there was something to delete.
  func removeCredential(of agent: String) throws -> Bool {
    var request = ThreadRequest(.deleteCredentials)
    request.agent = BorderAgentID(hex: agent)
    let answer = try command(request)
    if answer.error?.known == .notFound { return false }
    return try answer.result().deleted == true
  }

  struct NoAnswer: Error {}
}
