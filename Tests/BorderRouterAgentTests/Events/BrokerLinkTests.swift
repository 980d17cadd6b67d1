// SPDX-License-Identifier: Apache-2.0

import Broker
import Testing

@testable import BorderRouterAgent

@Suite("What an agent publishes on its next connection")
struct BrokerLinkTests {
  @Test(
    "What was not acknowledged is offered again where that is wanted, but never what expires",
    arguments: [true, false])
  func offered(again: Bool) throws {
    let link = BrokerLink(offersAgain: again)
    link.publish(Publication(topic: "event", payload: [], token: 1))
    link.publish(Publication(topic: "request", payload: [], messageExpiry: 30, token: 2))
    #expect(link.publications(upTo: 10).map(\.token) == [1, 2])
    link.connected(
      MosquittoSession(
        sessionPresent: false, protocolVersion: .v5, publishWindow: 20, isRetainAvailable: true))
    #expect(link.publications(upTo: 10).map(\.token) == (again ? [1] : []))
  }
}
