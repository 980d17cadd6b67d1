// SPDX-License-Identifier: Apache-2.0

import MosquittoClient
import SealedEnvelope
import SodiumCrypto

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Asks the keeper over the broker: seals and signs where the keeper's key is known, and opens the answer.
struct ClientExchange: Sendable {
  typealias Keys = (own: Identity, keeper: PublicIdentity)

  let broker: BrokerOptions
  /// Of the client and of the keeper; nil: all is said in clear.
  let keys: Keys?

  /// - Throws: `CommandFailure`, also for what the keeper refuses.
  func ask(_ question: ClientQuestion, within limit: Duration) async throws -> ClientAnswer {
    let topic = "\(broker.baseTopic)/in/\(broker.username)/request/\(question.command)"
    let answerTopic = "\(broker.baseTopic)/out/\(broker.username)/response/\(question.command)"
    let transaction = question.transaction
    let exchange = RequestExchange(
      Publication(
        topic: topic, payload: try payload(transaction, question.fields, topic: topic),
        messageExpiry: 30,
        contentType: "application/json", correlationData: Array(transaction.utf8),
        responseTopic: answerTopic)
    ) { message in
      guard message.topic == answerTopic else { return false }
      if let correlation = message.correlationData { return correlation == Array(transaction.utf8) }
      return ClientAnswer.transaction(of: message.payload) == transaction
    }
    let outcome: RequestExchange.Outcome?
    do {
      outcome = try await exchange.perform(
        broker.configuration(subscribingTo: answerTopic), within: limit)
    } catch let error as MosquittoError {
      throw CommandFailure(broker: error)
    }
    switch outcome {
    case nil:
      throw CommandFailure(
        .temporary, "nobody answers",
        remedy: "does the keeper run, and may \(broker.username) read \(answerTopic)?")
    case .failed(let error): throw CommandFailure(broker: error)
    case .answer(let payload):
      return try ClientAnswer(
        payload, to: transaction, keys: keys, topic: answerTopic,
        needsSeal: keys != nil && question.isSecret)
    }
  }

  /// The fields and the transaction, sealed where the keeper's key is known.
  private func payload(
    _ transaction: String, _ fields: [UInt8], topic: String
  ) throws -> [UInt8] {
    let start = Array("{\"transaction\":\"\(transaction)\"".utf8)
    // Nothing of the object is touched: it goes on after its brace.
    let rest = fields.drop { $0 != UInt8(ascii: "{") }.dropFirst()
    let isEmpty = rest.first { $0 > 0x20 } == UInt8(ascii: "}")
    var request = start + (isEmpty ? [] : [UInt8(ascii: ",")]) + rest
    guard let keys else { return request }
    defer { wipe(&request) }
    do throws(SealingError) {
      let envelope = try Envelope.seal(
        request, to: keys.keeper, from: keys.own,
        at: .init(
          topic: topic, order: .identifier(transaction), now: Int64(Date().timeIntervalSince1970),
          lifetime: Envelope.requestLifetime))
      return start + Array(",\"sealed\":".utf8) + envelope + [UInt8(ascii: "}")]
    } catch {
      throw CommandFailure(.badInput, error.message)
    }
  }
}

extension CommandFailure {
  fileprivate init(broker error: MosquittoError) {
    switch error.reason {
    case .credentials, .notAuthorized, .clientIdentifier: self.init(.notPermitted, error.message)
    case .configuration, .protocolVersion, .tlsFiles: self.init(.configuration, error.message)
    default: self.init(.unavailable, error.message)
    }
  }
}
