// SPDX-License-Identifier: Apache-2.0

import Broker
import ConsentLedger
import CredentialService
import ThreadRequests

/// Answers over MQTT.
extension Requests {
  /// Data, sealed where it is secret; nil for a requester that does not wait on a topic.
  ///
  /// - Throws: `AnswerFailure` where the requester has no key to seal to.
  func answer(
    _ data: AnswerData, _ context: RequestContext, _ transaction: String?
  ) throws -> Effect? {
    guard case .topic(let topic) = context.reply,
      case .mqttUser(let user) = context.requester
    else { return nil }
    var data = data
    if data.isSecret {
      guard
        let sealed = try parts.sealer.seal(
          data.json, to: user, in: context.home,
          AnswerPlace(topic: topic.name, transaction: transaction), now: now, tx)
      else {
        throw AnswerFailure(
          .notEnrolled, "the answer holds secrets, and this user has no key to seal them to")
      }
      data = AnswerData(sealed: sealed)
    }
    return .answer(
      publication(
        ThreadAnswer(data, transaction: transaction), to: topic, timeout: context.timeout),
      isRefusal: false)
  }

  func refusal(
    _ failure: AnswerFailure, of inbound: InboundRequest, _ transaction: String?
  ) -> Effect {
    .answer(
      publication(
        ThreadAnswer(failure, transaction: transaction), to: inbound.reply,
        timeout: Int(inbound.timeout)), isRefusal: true)
  }

  /// - Parameter timeout: seconds for which the requester waits for the answer.
  func publication(
    _ answer: ThreadAnswer, to topic: ReplyTopic, timeout: Int = Int(RequestReader.timeout)
  ) -> Answer {
    var answer = answer
    // Those are for people at the daemon's own terminal.
    answer.error?.help = nil
    answer.error?.exit = nil
    var payload = answer.json
    if payload.count > Self.mostBytes {
      let failure = AnswerFailure(
        .tooLarge, "the answer has more than \(Self.mostBytes) bytes, which no client takes")
      payload = ThreadAnswer(failure, transaction: answer.transaction).json
    }
    return .publication(
      Publication(
        topic: topic.name, payload: payload, contentType: "application/json",
        correlationData: topic.correlation),
      expires: now.adding(seconds: timeout))
  }

  /// Of an answer: with its topic and properties it fits into the packets that clients take
  /// (`MosquittoConfiguration.packetLimit`).
  private static let mostBytes = 63_488
}
