// SPDX-License-Identifier: Apache-2.0

import BorderRouterAgent
import Broker
import TestKit
import Testing

@Suite("What a router's agent is sent")
struct AdoptionOrderTests {
  private let topic = "threadkeeper/out/hub/dataset/set"
  private let agent = String(repeating: "1", count: 32)
  private let now: Int64 = 1_800_000_000
  private let own: Identity
  private let daemon: Identity

  init() throws {
    own = try Identity()
    daemon = try Identity()
  }

  private var keys: AgentKeys { AgentKeys(own: own, daemon: daemon.keys) }

  private func message(
    _ body: String, from sender: Identity? = nil, to reader: Identity? = nil, id: String = "a-1",
    on topic: String? = nil
  ) throws -> IncomingMessage {
    let envelope = try Envelope.seal(
      Array(body.utf8), to: (reader ?? own).keys, from: sender ?? daemon,
      at: .init(topic: self.topic, order: .identifier(id), now: now, lifetime: 300))
    return IncomingMessage(
      topic: topic ?? self.topic,
      payload: Array("{\"sealed\":".utf8) + envelope + Array(",\"v\":1}".utf8))
  }

  private func body(dataset: String? = nil) throws -> String {
    let hex = try dataset ?? SampleNetwork.home.dataset(at: 1).hex
    return "{\"border_agent_id\":\"\(agent)\",\"dataset\":\"\(hex)\",\"id\":\"a-1\"}"
  }

  private func refusal(_ message: IncomingMessage, now: Int64? = nil) -> String? {
    do throws(AdoptionOrder.Refusal) {
      _ = try AdoptionOrder(message, keys: keys, now: now ?? self.now)
      return nil
    } catch {
      return error.description
    }
  }

  @Test("What the daemon has sealed and signed is opened")
  func opened() throws {
    let order = try AdoptionOrder(message(body()), keys: keys, now: now)
    #expect(order.id == "a-1" && "\(order.agent)" == agent)
    #expect(order.issuedAt == now && order.expiresAt == now + 300)
    #expect(order.dataset == (try SampleNetwork.home.dataset(at: 1)))
  }

  @Test("Another signer, reader or topic, and what is too late, are refused with the reason")
  func refused() throws {
    let stranger = try Identity()
    #expect(refusal(try message(body(), from: stranger))?.hasPrefix("unknown_issuer") == true)
    #expect(refusal(try message(body(), to: stranger))?.hasPrefix("unknown_kid") == true)
    #expect(
      refusal(try message(body(), on: "threadkeeper/out/attic/dataset/set"))?.hasPrefix(
        "wrong_topic")
        == true)
    #expect(refusal(try message(body()), now: now + 400)?.hasPrefix("expired") == true)
  }

  @Test("Plain text is refused, whatever it says, and so is a retained message")
  func plain() throws {
    #expect(
      refusal(IncomingMessage(topic: topic, payload: Array(try body().utf8))) == "it is not sealed")
    var retained = try message(body())
    retained.isRetained = true
    #expect(refusal(retained) == "it is a retained message")
  }

  @Test("A field that is missing, another id than the envelope's, and an unfit dataset are refused")
  func fields() throws {
    #expect(refusal(try message("{}")) != nil)
    #expect(refusal(try message(body(), id: "a-2")) != nil)
    let home = try SampleNetwork.home.dataset(at: 1)
    for dataset in [
      "", "zz", home.removing(.networkKey).hex, try home.replacing(.delayTimer(1)).hex,
    ] {
      let refusal = try #require(refusal(try message(body(dataset: dataset))))
      #expect(!refusal.contains(SampleNetwork.home.networkKey))
    }
  }
}
