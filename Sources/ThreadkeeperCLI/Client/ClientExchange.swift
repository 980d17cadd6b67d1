// SPDX-License-Identifier: Apache-2.0

import Broker
import ConsentLedger
import SodiumCrypto
import Synchronization
import ThreadRequests
import ThreadkeeperDaemon

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Asks the daemon over the broker: seals and signs where the daemon's key is known, and opens the answer.
struct ClientExchange: Sendable {
  typealias Keys = (own: Identity, daemon: PublicIdentity)

  /// With a look at what waits, after the time of the request itself.
  private static let timeout = Duration.seconds(3)

  let broker: BrokerOptions
  /// Of the client and of the daemon; nil: all is said in plaintext.
  let keys: Keys?

  /// - Throws: `CommandFailure`, also for what the daemon refuses.
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
      if let waiting = await undecided(question) {
        throw CommandFailure(
          .temporary, "nobody has decided yet about \(waiting.id)",
          remedy: "ask again, with --timeout over 120, and meanwhile, by the daemon's user on its"
            + " machine: `threadkeeper consent approve \(waiting.id)`")
      }
      throw CommandFailure(
        .temporary, "nobody answers",
        remedy: "does the daemon run, and may \(broker.username) read \(answerTopic)?")
    case .failed(let error): throw CommandFailure(broker: error)
    case .answer(let payload):
      return try ClientAnswer(
        payload, to: transaction, keys: keys, topic: answerTopic,
        needsSeal: keys != nil && question.isSecret)
    }
  }

  /// The person's question that a request still waits for; nil where there is none, or nobody tells.
  private func undecided(_ question: ClientQuestion) async -> WaitingQuestion? {
    guard RequestCommand(rawValue: question.command)?.needsConsent == true else { return nil }
    return try? await waiting(within: Self.timeout)
      .first {
        // It becomes a part of a command line, and in plaintext anybody may have answered.
        $0.isAwaited(by: question.transaction) && ConsentID($0.id, .request) != nil
      }
  }

  /// The questions to a person that this client's requests wait for.
  func waiting(within limit: Duration) async throws -> [WaitingQuestion] {
    let answer = try await ask(
      ClientQuestion(command: RequestCommand.pendingConsents.rawValue), within: limit)
    return try JSONDecoder().decode(AnswerData.self, from: Data(answer.data)).pending ?? []
  }

  /// The fields and the transaction, sealed where the daemon's key is known.
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
        request, to: keys.daemon, from: keys.own,
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
    let words = BrokerOptions.words(error)
    switch error.reason {
    case .credentials, .notAuthorized, .clientIdentifier: self.init(.notPermitted, words)
    case .configuration, .protocolVersion, .tlsFiles: self.init(.configuration, words)
    default: self.init(.unavailable, words)
    }
  }
}

/// What the daemon is asked over the broker.
struct ClientQuestion: Sendable {
  let command: String
  /// A JSON object.
  var fields = Array("{}".utf8)
  /// Whether an answer in plaintext is refused, where it could be sealed.
  var isSecret = false
  /// Tells its answer, and the consent that it waits for, from those to others.
  let transaction = Base64.encode(RandomBytes.make(12), .urlSafe)
}

/// Publishes one request and waits for its answer.
final class RequestExchange: MosquittoHandler {
  enum Outcome: Sendable {
    case answer([UInt8])
    case failed(MosquittoError)
  }

  private struct State {
    var outcome: Outcome?
    var isSubscribed = false
    var isSent = false
    var told: @Sendable () -> Void = {}
    var wake: @Sendable () -> Void = {}
  }

  private let request: Publication
  private let isAnswer: @Sendable (IncomingMessage) -> Bool
  private let state = Mutex(State())

  /// - Parameter isAnswer: tells the answer from those to others who share the login.
  init(_ request: Publication, isAnswer: @escaping @Sendable (IncomingMessage) -> Bool) {
    self.request = request
    self.isAnswer = isAnswer
  }

  /// - Parameter limit: in all.
  /// - Returns: nil when nobody has answered by then.
  func perform(_ configuration: MosquittoConfiguration, within limit: Duration) async throws
    -> Outcome?
  {
    let client = MosquittoClient(configuration, handler: self)
    state.withLock {
      $0.told = { client.stop() }
      $0.wake = { client.wake() }
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await client.run() }
      group.addTask {
        if (try? await Task.sleep(for: limit)) != nil { client.stop() }
      }
      defer {
        group.cancelAll()
        client.stop()
        state.withLock { ($0.told, $0.wake) = ({}, {}) }
      }
      try await group.next()
    }
    return state.withLock { $0.outcome }
  }

  // MARK: On the client's thread

  func connected(_ session: MosquittoSession) {}

  /// Only now is an answer heard.
  func subscribed(refused: [SubscriptionRefusal]) {
    let wake = state.withLock { state in
      state.isSubscribed = true
      return state.wake
    }
    wake()
  }

  func publications(upTo limit: Int) -> [Publication] {
    state.withLock { state in
      guard state.isSubscribed, !state.isSent, limit > 0 else { return [] }
      state.isSent = true
      return [request]
    }
  }

  func received(_ batch: [IncomingMessage]) {
    for message in batch where !message.isRetained && isAnswer(message) {
      return end(.answer(message.payload))
    }
  }

  func acknowledged(_ token: UInt64, _ outcome: PublicationOutcome) {
    if case .refused(let error) = outcome { end(.failed(error)) }
  }

  func disconnected(_ event: MosquittoDisconnection) { end(.failed(event.error)) }

  private func end(_ outcome: Outcome) {
    let told = state.withLock { state in
      if state.outcome == nil { state.outcome = outcome }
      return state.told
    }
    told()
  }
}
