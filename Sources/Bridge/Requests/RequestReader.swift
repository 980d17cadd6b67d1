// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import MosquittoClient
import ThreadRequests

/// Reads what the broker delivers below `in/<user>/request/`. Whatever is wrong is answered, so nothing
/// is thrown.
struct RequestReader {
  /// Seconds for which an answer is of use, unless who asks waits for less.
  static let patience: UInt32 = 30
  /// Bytes of Correlation Data that an answer repeats. It is stored while a person is asked, so it has
  /// to be small; programs send a number or a UUID.
  static let correlationBytes = 128

  let base: String
  let decoder: InboundEventDecoder

  func read(_ message: IncomingMessage, command name: String, user: String) -> InboundRequest {
    let command = RequestCommand(rawValue: name)
    let fields = Result { () throws(AnswerFailure) in try self.fields(message, command) }
    var transaction = (try? fields.get())?.soundTransaction
    // A payload that may not be looked at is not looked at for its transaction either.
    if case .failure = fields, (try? decoder.check(message.payload)) != nil {
      transaction = RequestFields.transaction(of: message.payload)
    }
    let topic = OutboundTopic(base: base)
    let wanted = message.responseTopic.flatMap { topic.isAnswer($0, to: user) ? $0 : nil }
    return InboundRequest(
      user: user, command: command, topic: message.topic, fields: fields,
      transaction: transaction, answerTopic: wanted ?? topic.answer(to: user, command: name),
      correlation: message.correlationData.flatMap {
        $0.count <= Self.correlationBytes ? $0 : nil
      },
      patience: message.messageExpiry.map { $0 == 0 ? Self.patience : min($0, Self.patience) }
        ?? Self.patience)
  }

  private func fields(
    _ message: IncomingMessage, _ command: RequestCommand?
  ) throws(AnswerFailure) -> RequestFields {
    do throws(Rejection) {
      try decoder.check(message.payload)
    } catch {
      throw AnswerFailure(.invalidPayload, offset: error.offset, error.message)
    }
    guard message.correlationData?.count ?? 0 <= Self.correlationBytes else {
      throw AnswerFailure(
        .invalidPayload,
        "the Correlation Data has more than \(Self.correlationBytes) bytes")
    }
    guard message.messageExpiry != 0 else {
      throw AnswerFailure(.expired, "the request had expired when it was read")
    }
    guard command != nil else { throw AnswerFailure.unknownCommand }
    return try RequestFields(json: message.payload)
  }
}

extension AnswerFailure {
  static let unknownCommand = AnswerFailure(
    .unsupported, "this version does not know the command")

  package static let tooManyRequests = AnswerFailure(
    .rateLimited,
    "more than \(RequestLimiter.rate) requests a second; wait a moment and ask again")
}
