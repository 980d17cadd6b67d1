// SPDX-License-Identifier: Apache-2.0

import Broker
import Testing
import ThreadDataset
import ThreadkeeperSupport

@testable import Bridge
@testable import Home
@testable import HomeStore

@Suite("Messages of adoptions")
struct AdoptionMessageTests {
  private var scene: RequestScene

  init() throws { scene = try RequestScene() }

  private func order(_ user: ExactName = "hub", seconds: Int = 300) -> AdoptionOrder {
    AdoptionOrder(
      agent: BorderAgentID(high: 1, low: 0), user: user, message: 255, connection: 4,
      deadline: scene.now.adding(seconds: seconds),
      dataset: DatasetSummary(network: ExtendedPANID(number: 1), name: ""))
  }

  private func message(_ order: AdoptionOrder) throws -> WaitingMessage? {
    scene.exchange.message(
      order, try .sample(), in: ("home", scene.home), base: RequestScene.base, now: scene.now)
  }

  @Test("The credentials are sealed to the login, on its own topic and under the order's id")
  func sealed() throws {
    let dataset = try OperationalDataset.sample()
    let message = try #require(try message(order()))
    let publication = message.publication
    #expect(publication.topic == "tk/out/hub/dataset/set")
    #expect(!publication.retain)
    #expect(publication.contentType == "application/json")
    #expect(message.order == .init(home: "home", message: 255, connection: 4))

    let text = String(decoding: publication.payload, as: UTF8.self)
    #expect(text.hasPrefix(#"{"sealed":{"alg":"#) && text.hasSuffix(#"},"v":1}"#))
    #expect(!text.contains(dataset.hex))
    let envelope = try #require(
      UntrustedJSON.value(of: "sealed", in: publication.payload, depth: 4))
    let opened = try Envelope.open(
      envelope, with: #require(scene.clients["hub"]), from: [scene.daemon.keys],
      topic: publication.topic, now: scene.now.unixSeconds)
    #expect(opened.order == .identifier("a-00000000000000ff"))
    #expect(
      String(decoding: opened.body, as: UTF8.self)
        == #"{"border_agent_id":"0000000000000001","dataset":"\#(dataset.hex)","#
        + #""id":"a-00000000000000ff"}"#)
  }

  @Test(
    "It lives as long as the wait, at most as long as an envelope may",
    arguments: [(300, 300), (3_600, 300), (20, 20), (0, 1), (-9, 1)])
  func lifetime(_ left: Int, _ seconds: Int) throws {
    #expect(try message(order(seconds: left))?.expires == scene.now.adding(seconds: seconds))
  }

  @Test("Nothing is sent to who is not enrolled any more, nor without the daemon's keys")
  mutating func noKey() throws {
    #expect(try message(order("nobody")) == nil)
    scene.handle(.revoke("hub", forgets: false, by: .commandLine(user: 0)))
    #expect(try message(order()) == nil)
    scene.exchange = SealedExchange(nil)
    #expect(try message(order("phone")) == nil)
  }
}
