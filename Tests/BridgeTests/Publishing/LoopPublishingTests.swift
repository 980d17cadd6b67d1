// SPDX-License-Identifier: Apache-2.0

import Broker
import Home
import HomeStore
import KeychainCore
import SodiumCrypto
import Synchronization
import Testing
import ThreadDataset

@testable import Bridge

@Suite("A loop and its publisher")
struct LoopPublishingTests {
  /// Hands on what the loop commits.
  private final class Follower: LoopFollower {
    struct Parts {
      var loop: HomeLoop?
      var publisher: Publisher?
    }

    let parts = Mutex(Parts())
    private let events = EventWriter(home: "home", base: "tk", isOnlyHome: true)

    func messages(of outcome: LoopOutcome, in home: Home, at now: WireTime) -> [[UInt8]] {
      events.messages(of: outcome, in: home, at: now)
    }

    func committed(_ batch: CommittedBatch) {
      let (loop, publisher) = parts.withLock { ($0.loop, $0.publisher) }
      if let loop { publisher?.note(batch, home: loop.home) }
    }
  }

  private final class Counter: Sendable {
    private let value = Atomic<UInt64>(0)
    var next: UInt64 { value.add(1, ordering: .relaxed).newValue }
  }

  private let follower = Follower()
  private let store = MemoryStore()
  private let loop: HomeLoop
  private let publisher: Publisher

  init() throws {
    let now = WireTime(milliseconds: 1_700_000_000_000)
    let ids = Counter()
    let rules = HomeRules { ids.next }
    var reading = IntakeReading(hashKey: SecretBytes(copying: [UInt8](repeating: 7, count: 32)))
    reading.eventsBurst = 1_000
    loop = try HomeLoop(
      [ServedHome(name: "home", base: "tk", rules: rules)], discovers: false, store: store,
      reading: reading, follower: follower, clock: { now })
    var settings = PublisherSettings(BaseTopics([.init(name: "home", base: "tk")]))
    settings.discoveryPrefix = "ha"
    publisher = Publisher(
      settings, loop.snapshot, store, stored: try store.storedMessages(), rules: rules,
      now: { now })
    follower.parts.withLock { [loop, publisher] in $0 = .init(loop: loop, publisher: publisher) }
    publisher.connected(sessionPresent: true)
    _ = try pump()
  }

  private func pump() throws -> [Publication] {
    var all: [Publication] = []
    while case let next = publisher.publications(upTo: 20), !next.isEmpty {
      all += next
      for publication in next { publisher.acknowledged(publication.token, .delivered) }
    }
    return all
  }

  private func message(_ event: String, _ json: String) -> IncomingMessage {
    IncomingMessage(topic: "tk/in/otbr/\(event)", payload: Array(json.utf8))
  }

  @Test("What a router announces is on the broker, states before events, and no secret with it")
  func announcement() throws {
    let dataset = LoopKit.dataset(3)
    try loop.received([
      message(
        "announce", #"{"border_agent_id":"a1b2c3d4e5f60718","dataset":"\#(dataset.hex)"}"#)
    ])
    let sent = try pump()
    let own = "tk/router/a1b2c3d4e5f60718"
    #expect(
      sent.topics.prefix(4) == [
        "ha/device/threadkeeper/threadkeeper_tk_a1b2c3d4e5f60718/config", own,
        "\(own)/availability", "tk/bridge/event",
      ])
    #expect(sent.topics.contains("tk/network/0303030303030303"))
    let key = String(repeating: "43", count: 16)
    let pskc = String(repeating: "83", count: 16)
    for publication in sent {
      let text = String(decoding: publication.payload, as: UTF8.self).lowercased()
      #expect(!text.contains(key) && !text.contains(pskc) && !text.contains(dataset.hex))
    }
    #expect(publisher.published == (try store.lastMessage()))
  }

  @Test("A rejection is an event with its place, and changes no state")
  func rejection() throws {
    try loop.received([message("heartbeat", #"{"border_agent_id":"a1b2c3d4e5f60718"}"#)])
    let sent = try pump()
    #expect(sent.topics == ["tk/bridge/event"])
    let text = String(decoding: sent.first?.payload ?? [], as: UTF8.self)
    #expect(text.contains(#""event_type":"message_rejected""#))
    #expect(text.contains(#""code":"not_found","field":"border_agent_id""#))
    #expect(text.hasSuffix(#""topic":"tk/in/otbr/heartbeat"}"#))
  }
}
