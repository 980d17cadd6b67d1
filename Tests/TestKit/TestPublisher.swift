import Broker
import Synchronization

/// Somebody who publishes and waits for the broker's answer.
package final class TestPublisher: Sendable {
  private let client: TestClient
  private let nextToken = Mutex<UInt64>(1)

  package static func start(_ broker: TestBroker, user: String? = nil) async throws -> TestPublisher {
    let publisher = TestPublisher(broker.configuration(passing: "publisher", user: user))
    try await publisher.client.ready()
    return publisher
  }

  package init(_ configuration: MosquittoConfiguration) { client = TestClient(configuration) }

  @discardableResult package func publish(_ topic: String, _ text: String, retain: Bool = false) async throws
    -> PublicationOutcome
  { try await publish([Publication(topic: topic, payload: Array(text.utf8), retain: retain)])[0] }

  /// Publishes all of them and waits until each is acknowledged or refused.
  ///
  /// - Returns: the outcomes in the order of the publications. Tokens are given here.
  @discardableResult package func publish(_ publications: [Publication]) async throws -> [PublicationOutcome] {
    let first = nextToken.withLock { next in
      defer { next += UInt64(publications.count) }
      return next
    }
    var publications = publications
    for index in publications.indices { publications[index].token = first + UInt64(index) }
    let tokens = first..<(first + UInt64(publications.count))
    var looked = client.handler.look { $0.acknowledged.count }
    client.publish(publications)
    var outcomes: [UInt64: PublicationOutcome] = [:]
    try await eventually("the broker's acknowledgement") {
      client.handler.look { record in
        for (token, outcome) in record.acknowledged[looked...] where tokens.contains(token) {
          outcomes[token] = outcome
        }
        looked = record.acknowledged.count
      }
      return outcomes.count == tokens.count
    }
    return tokens.compactMap { outcomes[$0] }
  }

  package func stop() async throws { try await client.stop() }
}

/// Somebody who listens to a broker and keeps all that comes.
package final class TestSubscriber: Sendable {
  private let client: TestClient

  /// Returns when the broker has answered the subscriptions; retained messages may still follow.
  package static func start(_ broker: TestBroker, user: String? = nil, _ filters: String...) async throws
    -> TestSubscriber
  {
    let subscriber = TestSubscriber(broker.configuration(passing: "subscriber", user: user, filters))
    try await subscriber.client.ready()
    return subscriber
  }

  package init(_ configuration: MosquittoConfiguration) { client = TestClient(configuration) }

  package var messages: [IncomingMessage] { client.handler.messages }

  /// The newest payload of a topic, as text.
  package func latest(_ topic: String) -> String? {
    client.handler.look { record in
      record.messages.last { $0.topic == topic }.map { String(decoding: $0.payload, as: UTF8.self) }
    }
  }

  /// Waits until what has come so far fulfils a condition, and returns it.
  @discardableResult package func wait(
    within limit: Duration = .seconds(60), until condition: ([IncomingMessage]) -> Bool
  ) async throws -> [IncomingMessage] {
    try await eventually(within: limit, "what is waited for") {
      condition(messages)
    } otherwise: {
      "\nthe last of what came:\n  " + messages.suffix(20).map(\.description).joined(separator: "\n  ")
    }
    return messages
  }

  package func stop() async throws { try await client.stop() }
}
