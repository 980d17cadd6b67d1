// SPDX-License-Identifier: Apache-2.0

import Broker
import Testing

@testable import Bridge

@Suite("Topics that the broker refuses")
struct RefusedTopicsTests {
  private let byAccess = PublicationOutcome.refused(MosquittoError(.notAuthorized, "not allowed"))
  private let byQuota = PublicationOutcome.refused(MosquittoError(.quota, "too much"))

  private func send(
    _ topic: String, _ outcome: PublicationOutcome, to topics: inout RefusedTopics
  ) throws -> Bool {
    let sent = topics.send([Publication(topic: topic, payload: [])])
    return topics.acknowledge(try #require(sent.first).token, outcome)
  }

  @Test("Each is counted once, and is gone when the broker takes it")
  func counted() throws {
    var topics = RefusedTopics()
    #expect(topics.report == nil)
    for topic in ["a", "b", "a"] { #expect(try !send(topic, byQuota, to: &topics)) }
    #expect(
      topics.report == .init(topics: 2, last: "a", problem: "too much", isByAccess: false))
    #expect(try !send("c", .delivered, to: &topics))
    #expect(topics.report?.topics == 2)
    #expect(try !send("a", .delivered, to: &topics))
    #expect(topics.report?.last == "b" && topics.report?.topics == 1)
    #expect(try !send("b", .delivered, to: &topics))
    #expect(topics.report == nil)
  }

  @Test("One that the access list lets through again makes all of them a matter of the past")
  func regained() throws {
    var topics = RefusedTopics()
    for topic in ["a", "b"] { #expect(try !send(topic, byAccess, to: &topics)) }
    #expect(topics.report?.isByAccess == true)
    #expect(try !send("c", .delivered, to: &topics))
    #expect(topics.report?.topics == 2)
    #expect(try send("a", .delivered, to: &topics))
    #expect(topics.report == nil)
    #expect(try !send("b", .delivered, to: &topics))
  }

  @Test("Another connection restarts, and knows nothing of the one before")
  func restart() throws {
    var topics = RefusedTopics()
    #expect(try !send("a", byAccess, to: &topics))
    let late = topics.send([Publication(topic: "b", payload: [])])
    topics.restart()
    #expect(topics.report == nil)
    #expect(!topics.acknowledge(try #require(late.first).token, byAccess))
    #expect(topics.report == nil)
  }

  @Test("Names of the outbox stay, and every other publication gets one of its own")
  func names() {
    var topics = RefusedTopics()
    let sent = topics.send([
      Publication(topic: "a", payload: [], token: 7), Publication(topic: "b", payload: []),
      Publication(topic: "c", payload: []),
    ])
    #expect(sent.first?.token == 7)
    #expect(Set(sent.map(\.token)).count == 3)
  }
}
