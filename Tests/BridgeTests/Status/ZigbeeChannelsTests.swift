import KeychainCore
import Testing
import ThreadDataset

@testable import Bridge
@testable import Home

@Suite("The channel of a Zigbee network beside the Thread network") struct ZigbeeChannelsTests {
  private func channel(_ payload: String) -> UInt16? {
    var channels = ZigbeeChannels()
    channels.take(Array(payload.utf8))
    return channels.channel
  }

  private func preferred(channel: UInt8) throws -> DatasetSummary {
    try #require(DatasetSummary(.of(1, channel: channel), key: LoopKit.hashKey))
  }

  @Test("It is read wherever it is in what zigbee2mqtt retains") func found() {
    #expect(channel(#"{"network":{"channel":15,"extended_pan_id":"0x00124b0012345678","pan_id":6754}}"#) == 15)
    let settings = #"{"advanced":{"channel":11},"devices":{"0x00158d0001":{"friendly_name":"lamp"}}}"#
    #expect(channel(#"{"config":\#(settings),"log_level":"info","network":{"pan_id":1,"channel":26},"v":[]}"#) == 26)
  }

  @Test(
    "What names no channel of both is none",
    arguments: [
      "", "{", "15", "[]", #"{"network":null}"#, #"{"network":15}"#, #"{"network":{}}"#, #"{"channel":15}"#,
      #"{"network":{"channel":"15"}}"#, #"{"network":{"channel":null}}"#, #"{"network":{"channel":10}}"#,
      #"{"network":{"channel":27}}"#, #"{"network":{"channel":15.5}}"#, #"{"network":{"channel":65551}}"#,
      #"{"network":{"channel":15},"network":{"channel":16}}"#, #"{"network":{"channel":15}} more"#,
      String(repeating: "[", count: 10_000),
    ]) func absent(_ payload: String)
  { #expect(channel(payload) == nil) }

  @Test("What is longer than any message of zigbee2mqtt is not read") func tooLong() {
    let text = #"{"network":{"channel":15}}"#
    let most = Int(ZigbeeChannels.mostBytes)
    #expect(channel(text + String(repeating: " ", count: most - text.utf8.count)) == 15)
    #expect(channel(text + String(repeating: " ", count: most + 1 - text.utf8.count)) == nil)
  }

  @Test("Another message takes the place of the one before, and an empty one ends it") func replaced() throws {
    var channels = ZigbeeChannels()
    for (payload, isOverlap) in [
      (#"{"network":{"channel":15}}"#, true), (#"{"network":{"channel":20}}"#, false),
      (#"{"network":{"channel":15}}"#, true), ("", false),
    ] {
      channels.take(Array(payload.utf8))
      #expect((try channels.overlap(with: preferred(channel: 15)) != nil) == isOverlap, "\(payload)")
    }
  }

  @Test(
    "Only the same channel overlaps; the others are free", arguments: [(14, nil), (15, "11–14 and 16–26"), (16, nil)])
  func overlap(_ zigbee: Int, _ free: String?) throws {
    var channels = ZigbeeChannels()
    channels.take(Array(#"{"network":{"channel":\#(zigbee)}}"#.utf8))
    #expect(try channels.overlap(with: preferred(channel: 15))?.free == free)
  }

  @Test("The free channels at the ends of the band", arguments: [(11, "12–26"), (12, "11 and 13–26"), (26, "11–25")])
  func ends(_ channel: UInt8, _ free: String) throws {
    var channels = ZigbeeChannels()
    channels.take(Array(#"{"network":{"channel":\#(channel)}}"#.utf8))
    let overlap = try #require(channels.overlap(with: preferred(channel: channel)))
    #expect(overlap.free == free)
    let facts = AlertFacts.zigbeeSharesChannel(overlap)
    #expect(facts.names.first.first?.hasSuffix("the same channel, \(channel)") == true)
    #expect(facts.names.first.last?.contains("free of both are \(free).") == true)
  }

  @Test("Without a Zigbee or a preferred network, or without its dataset, nothing overlaps") func unknown() throws {
    #expect(try ZigbeeChannels().overlap(with: preferred(channel: 15)) == nil)
    var channels = ZigbeeChannels()
    channels.take(Array(#"{"network":{"channel":15}}"#.utf8))
    #expect(channels.overlap(with: nil) == nil)
    #expect(channels.overlap(with: DatasetSummary(network: ExtendedPANID(number: 1), name: "home")) == nil)
    var other = try preferred(channel: 15)
    other.parameters?.channel = 2 << 16 | 15
    #expect(channels.overlap(with: other) == nil)
  }
}
