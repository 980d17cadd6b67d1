// SPDX-License-Identifier: Apache-2.0

import Broker

/// Somebody who listens to a broker and keeps all that comes.
package final class TestSubscriber: Sendable {
  private let client: TestClient

  /// Returns when the broker has answered the subscriptions; retained messages may still follow.
  package static func start(
    _ broker: TestBroker, user: String? = nil, _ filters: String...
  ) async throws -> TestSubscriber {
    var configuration = broker.configuration(
      clientID: "subscriber-\(UInt32.random(in: 0 ... .max))", user: user)
    configuration.cleanStart = true
    configuration.sessionExpiry = 0
    configuration.subscriptions = filters.map { MosquittoConfiguration.Subscription($0) }
    let subscriber = TestSubscriber(configuration)
    try await subscriber.client.ready()
    return subscriber
  }

  package init(_ configuration: MosquittoConfiguration) {
    client = TestClient(configuration)
  }

  package var messages: [IncomingMessage] { client.handler.messages }

  /// The newest payload of a topic, as text.
  package func latest(_ topic: String) -> String? {
    messages.last { $0.topic == topic }.map { String(decoding: $0.payload, as: UTF8.self) }
  }

  /// Waits until what has come so far fulfils a condition, and returns it.
  @discardableResult
  package func wait(
    within limit: Duration = .seconds(60), until condition: ([IncomingMessage]) -> Bool
  ) async throws -> [IncomingMessage] {
    do {
      try await eventually(within: limit) { condition(messages) }
    } catch is TimedOut {
      let topics = messages.suffix(20).map(\.description).joined(separator: "\n  ")
      throw TimedOut(description: "not within \(limit); the last of what came:\n  \(topics)")
    }
    return messages
  }

  package func stop() async throws { try await client.stop() }
}
