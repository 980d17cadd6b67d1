// SPDX-License-Identifier: Apache-2.0

import Broker
import Synchronization

/// Somebody who publishes and waits for the broker's answer.
package final class TestPublisher: Sendable {
  private let client: TestClient
  private let nextToken = Mutex<UInt64>(1)

  package static func start(_ broker: TestBroker, user: String? = nil) async throws
    -> TestPublisher
  {
    var configuration = broker.configuration(
      clientID: "publisher-\(UInt32.random(in: 0 ... .max))", user: user)
    configuration.cleanStart = true
    configuration.sessionExpiry = 0
    let publisher = TestPublisher(configuration)
    try await publisher.client.ready()
    return publisher
  }

  package init(_ configuration: MosquittoConfiguration) {
    client = TestClient(configuration)
  }

  @discardableResult
  package func publish(_ topic: String, _ text: String, retain: Bool = false) async throws
    -> PublicationOutcome
  {
    try await publish([Publication(topic: topic, payload: Array(text.utf8), retain: retain)])[0]
  }

  /// Publishes all of them and waits until each is acknowledged or refused.
  ///
  /// - Returns: the outcomes in the order of the publications. Tokens are given here.
  @discardableResult
  package func publish(_ publications: [Publication]) async throws -> [PublicationOutcome] {
    let first = nextToken.withLock { next in
      defer { next += UInt64(publications.count) }
      return next
    }
    var publications = publications
    for index in publications.indices { publications[index].token = first + UInt64(index) }
    let tokens = first..<(first + UInt64(publications.count))
    client.publish(publications)
    var outcomes: [UInt64: PublicationOutcome] = [:]
    try await eventually(within: .seconds(60), "the broker's acknowledgement") {
      for (token, outcome) in client.handler.record.acknowledged where tokens.contains(token) {
        outcomes[token] = outcome
      }
      return outcomes.count == tokens.count
    }
    return tokens.compactMap { outcomes[$0] }
  }

  package func stop() async throws { try await client.stop() }
}
