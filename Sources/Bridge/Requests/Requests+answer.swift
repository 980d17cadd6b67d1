// SPDX-License-Identifier: Apache-2.0

import CredentialService
import MosquittoClient
import ThreadRequests

/// Answers over MQTT.
extension Requests {
  /// Data, sealed where it is secret; nil for who does not wait on a topic.
  ///
  /// - Throws: `AnswerFailure` where the requester has no key to seal to.
  func answer(
    _ data: AnswerData, _ context: RequestContext, _ transaction: String?
  ) throws -> Effect? {
    guard case .topic(let topic, let correlation) = context.reply,
      case .mqttUser(let user) = context.requester
    else { return nil }
    var data = data
    if data.isSecret {
      guard
        let sealed = try configuration.requests.sealer.seal(
          data.json, to: user, in: context.home,
          AnswerPlace(topic: topic, transaction: transaction), now: now, tx)
      else {
        throw AnswerFailure(
          .notEnrolled, "the answer holds secrets, and this user has no key to seal them to")
      }
      data = AnswerData(sealed: sealed)
    }
    return .answer(
      publication(
        ThreadAnswer(data, transaction: transaction), on: topic, correlation,
        patience: context.patience), isRefusal: false)
  }

  func refusal(
    _ failure: AnswerFailure, of inbound: InboundRequest, _ transaction: String?
  ) -> Effect {
    .answer(
      publication(
        ThreadAnswer(failure, transaction: transaction), on: inbound.answerTopic,
        inbound.correlation, patience: Int(inbound.patience)), isRefusal: true)
  }

  /// - Parameter patience: seconds for which somebody waits for the answer.
  func publication(
    _ answer: ThreadAnswer, on topic: String, _ correlation: [UInt8]?,
    patience: Int = Int(RequestReader.patience)
  ) -> Answer {
    var answer = answer
    // Those are for people at the daemon's own terminal.
    answer.error?.help = nil
    answer.error?.exit = nil
    return .publication(
      Publication(
        topic: topic, payload: answer.json, contentType: "application/json",
        correlationData: correlation),
      expires: now.adding(seconds: patience))
  }
}
