// SPDX-License-Identifier: Apache-2.0

import Testing
import ThreadDataset

@Suite("Channel mask")
struct ChannelMaskTests {
  @Test("The channels of a mask there and back")
  func channels() throws {
    #expect(ChannelMask(channels: 11...26).entries.first?.mask == [0x00, 0x1F, 0xFF, 0xE0])
    #expect(ChannelMask(channels: [31, 0, 99]).channels == [0, 31])
    let two = try OperationalDataset(hex: "350a00040010000002028001")
    let mask = try #require(two.channelMask)
    #expect(mask.channels == [11])
    #expect(mask.entries.map(\.page) == [0, 2])
    #expect(mask.entries.last?.channels == [0, 15])
    #expect(try OperationalDataset(.channelMask(mask)) == two)
  }
}
