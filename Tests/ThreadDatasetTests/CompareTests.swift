import Testing
import ThreadDataset

@Suite("Same network? Newer?") struct CompareTests {
  let stored: OperationalDataset

  init() throws { stored = try Samples.vector("G1") }

  @Test("A dataset matches itself") func same() { #expect(stored.relation(to: stored) == .match) }

  @Test("Every essential parameter is named when it differs, and no other") func differences() throws {
    let changes: [(DatasetParameter, DatasetComponent)] = try [
      (.networkKey, .networkKey(#require(NetworkKey(hex: "0102030405060708090a0b0c0d0e0f10")))),
      (.panID, .panID(0x1235)), (.channel, .channel(Channel(number: 16))),
      (.networkName, .networkName("OpenThreadDemp")),
      (.pskc, .pskc(#require(PSKc(hex: "0102030405060708090a0b0c0d0e0f10")))),
      (.meshLocalPrefix, .meshLocalPrefix(#require(MeshLocalPrefix(hex: "fdad70bfe5aa15de")))),
      (.securityPolicy, .securityPolicy(#require(SecurityPolicy(rotationTime: 673, flags: [0xF7, 0xF8])))),
      (.domainName, .domainName("")),
    ]
    for (parameter, change) in changes {
      let other = try stored.replacing(change)
      #expect(other.essentialDifferences(from: stored) == [parameter])
      #expect(stored.essentialDifferences(from: other) == [parameter])
      #expect(other.relation(to: stored) == .conflict([parameter]))
    }
    let removed = stored.removing(.pskc, .channel)
    #expect(removed.essentialDifferences(from: stored) == [.channel, .pskc])
  }

  @Test("What is not essential makes no difference") func notEssential() throws {
    let others = try [
      stored.replacing(.wakeUpChannel(Channel(number: 24))),
      stored.replacing(.channelMask(ChannelMask(channels: [11, 12]))),
      stored.replacing(.other(TLV(type: 0xAA, value: [1]))),
      stored.replacing(.pendingTimestamp(#require(Timestamp(seconds: 9))), .delayTimer(3)),
      stored.replacing(.securityPolicy(#require(SecurityPolicy(rotationTime: 672, flags: [0xFF, 0xF8])))),
      stored.replacing(.activeTimestamp(#require(Timestamp(seconds: 1, isAuthoritative: true)))),
    ]
    for other in others {
      #expect(other != stored)
      #expect(other.relation(to: stored) == .match)
      #expect(stored.relation(to: other) == .match)
    }
  }

  @Test("A later or an earlier Active Timestamp decides, whatever else differs") func age() throws {
    let timestamp = try #require(Timestamp(seconds: 1, ticks: 1))
    let newer = try stored.replacing(.activeTimestamp(timestamp), .channel(Channel(number: 20)))
    #expect(newer.relation(to: stored) == .newer)
    #expect(stored.relation(to: newer) == .older)
  }

  @Test("Another Extended PAN ID is a mismatch with all names, never older or newer") func move() throws {
    let identity = try #require(ExtendedPANID(hex: "2222222211111111"))
    for seconds in [0, 1, 100] as [UInt64] {
      let moved = try stored.replacing(
        .extendedPANID(identity), .channel(Channel(number: 20)), .activeTimestamp(#require(Timestamp(seconds: seconds)))
      )
      #expect(moved.relation(to: stored) == .mismatch([.extendedPANID, .channel]))
    }
  }

  @Test("Without a timestamp only the content counts") func noTimestamp() throws {
    let ageless = stored.removing(.activeTimestamp)
    #expect(ageless.relation(to: stored) == .match)
    #expect(try ageless.replacing(.panID(1)).relation(to: stored) == .conflict([.panID]))
  }

  @Test("The names are those of alerts and of JSON") func names() {
    #expect(
      DatasetParameter.allCases.map(\.rawValue) == [
        "network_key", "ext_pan_id", "pan_id", "channel", "network_name", "pskc", "mesh_local_prefix",
        "security_policy", "domain_name",
      ])
  }
}
