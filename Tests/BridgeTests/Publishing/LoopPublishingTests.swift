import Broker
import Synchronization
import Testing
import ThreadDataset

@testable import Bridge
@testable import Home

@Suite("A loop and its publisher") struct LoopPublishingTests {
  /// Hands on what the loop commits.
  private final class Follower: LoopFollower {
    let publisher = Mutex<Publisher?>(nil)
    private let events = EventWriter(home: "home", base: "tk/home", ways: .init(isOnlyHome: true))

    func messages(of outcome: LoopOutcome, at now: WireTime) -> [[UInt8]] { events.rows(of: outcome, at: now) }

    func committed(_ batch: CommittedBatch, _ homes: CommittedHomes) {
      publisher.withLock { $0 }?.note(batch, home: homes.home)
    }
  }

  private let kit: LoopKit
  private let publisher: Publisher

  init() throws {
    let follower = Follower()
    let kit = try LoopKit(following: follower)
    var settings = PublisherSettings(BaseTopics([.init(name: "home", base: "tk/home")]))
    settings.discoveryPrefix = "ha"
    let publisher = Publisher(
      settings, kit.loop.homes.snapshot, kit.memory, stored: try kit.memory.storedMessages(), now: { kit.time.now })
    follower.publisher.withLock { $0 = publisher }
    (self.kit, self.publisher) = (kit, publisher)
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

  @Test("What a router announces is on the broker, states before events, and no secret with it") func announcement()
    throws
  {
    let dataset = OperationalDataset.of(3)
    try kit.receive(.announce(1, dataset))
    let sent = try pump()
    let own = "tk/home/router/a000000000000001"
    #expect(
      sent.topics.prefix(4) == [
        "ha/device/threadkeeper/threadkeeper_tk-2fhome_a000000000000001/config", own, "\(own)/availability",
        "tk/home/bridge/event",
      ])
    #expect(sent.topics.contains("tk/home/network/0303030303030303"))
    let key = String(repeating: "43", count: 16)
    let pskc = String(repeating: "83", count: 16)
    for publication in sent {
      let text = publication.text.lowercased()
      #expect(!text.contains(key) && !text.contains(pskc) && !text.contains(dataset.hex))
    }
    #expect(publisher.published == (try kit.memory.lastMessage()))
  }

  @Test("A rejection is an event with its place, and changes no state") func rejection() throws {
    try kit.receive(.message("heartbeat", 1))
    let sent = try pump()
    #expect(sent.topics == ["tk/home/bridge/event"])
    let text = try #require(sent.first).text
    #expect(text.contains(#""event_type":"message_rejected""#))
    #expect(text.contains(#""code":"not_found","field":"border_agent_id""#))
    #expect(text.hasSuffix(#""topic":"tk/home/in/otbr/heartbeat"}"#))
  }
}

@Suite("Secrets in what is published") struct PublishedSecretsTests {
  @Test("No payload holds a hash that stands for a key, in any form") func nothing() throws {
    let scene = PublisherScene(.homeAssistant)
    scene.publisher.connected(sessionPresent: true)
    var secret = DatasetSummary.of(7)
    let values: [UInt64] = [
      0xDEAD_BEEF_0BAD_CAFE, 0xFEED_FACE_CAFE_F00D, 0xB16B_00B5_C0FF_EE11, 0x5EC2_E7C0_DE5E_C2E7, 0xABAD_1DEA_DEC0_DED1,
      0xC0DE_D00D_BAAD_F00D,
    ]
    secret.parameters?.networkKey = Hash128(high: values[0], low: values[1])
    secret.parameters?.pskc = Hash128(high: values[2], low: values[3])
    secret.parameters?.whole = Hash128(high: values[4], low: values[5])
    scene.commit { $0.publish(.announce, 1, secret) }
    scene.commit { $0.publish(.announce, 2, .of(8)) }
    secret.network = ExtendedPANID(number: 11)
    scene.commit { $0.share(secret) { $0.isPreferred = true } }
    scene.commit { $0.publish(.announce, 3, .of(7, key: 9, at: 5)) }
    scene.commit { $0.ask() }
    scene.wait(40)
    scene.commit { $0.tick() }
    scene.tick()
    try scene.pump()
    #expect(scene.sent.count > 20)
    for publication in scene.sent {
      let text = publication.text.lowercased()
      for value in values { #expect(!text.contains(String(value, radix: 16)) && !text.contains(String(value))) }
    }
  }
}
