// SPDX-License-Identifier: Apache-2.0

import Broker
import ConsentLedger
import CredentialService
import ThreadRequests

/// Reads what the broker delivers below `in/<user>/request/`. Whatever is wrong is answered, so nothing
/// is thrown.
struct RequestReader {
  /// Seconds for which an answer is of use, unless the requester waits for less.
  static let timeout = UInt32(RequestContext.longestTimeout)

  let base: String
  let decoder: InboundEventDecoder

  func read(_ message: IncomingMessage, command name: String, user: String) -> InboundRequest {
    let command = RequestCommand(rawValue: name)
    let fields = Result { () throws(AnswerFailure) in try self.fields(message, command) }
    var transaction = (try? fields.get())?.soundTransaction
    // A payload that may not be read is not read for its transaction either.
    if case .failure = fields, (try? decoder.check(message.payload)) != nil {
      transaction = RequestFields.transaction(of: message.payload)
    }
    return InboundRequest(
      user: user, command: command, topic: message.topic, fields: fields,
      transaction: transaction,
      reply: ReplyTopic(asked: message, user: user, base: base)
        ?? ReplyTopic(OutboundTopic(base: base).answer(to: user, command: name), message),
      timeout: message.messageExpiry.map { $0 == 0 ? Self.timeout : min($0, Self.timeout) }
        ?? Self.timeout)
  }

  private func fields(
    _ message: IncomingMessage, _ command: RequestCommand?
  ) throws(AnswerFailure) -> RequestFields {
    do throws(Rejection) {
      try decoder.check(message.payload)
    } catch {
      throw AnswerFailure(.invalidPayload, offset: error.offset, error.message)
    }
    guard message.correlationData?.count ?? 0 <= ReplyTopic.correlationBytes else {
      throw AnswerFailure(
        .invalidPayload,
        "the Correlation Data has more than \(ReplyTopic.correlationBytes) bytes")
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
