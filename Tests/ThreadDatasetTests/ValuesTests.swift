// SPDX-License-Identifier: Apache-2.0

import Testing
import ThreadDataset

@Suite("Values of a dataset")
struct ValuesTests {
  @Test("Every value of an active dataset is read")
  func active() throws {
    let dataset = try Samples.vector("G1")
    #expect(dataset.kind == .complete)
    #expect(dataset.activeTimestamp == Timestamp(seconds: 1))
    #expect(dataset.activeTimestamp?.isAuthoritative == false)
    #expect(dataset.channel == Channel(number: 15))
    #expect(dataset.channelMask?.channels == Array(11...26))
    #expect(dataset.channelMask?.entries == [.init(page: 0, mask: [0x00, 0x1F, 0xFF, 0xE0])])
    #expect(dataset.panID == 0x1234)
    #expect(dataset.extendedPANID?.description == "1111111122222222")
    #expect(dataset.networkName == "OpenThreadDemo")
    #expect(dataset.meshLocalPrefix?.description == "fdad70bfe5aa15dd")
    #expect(dataset.networkKey?.revealedHex == "00112233445566778899aabbccddeeff")
    #expect(dataset.pskc?.revealedHex == "445f2b5ca6f2a93a55ce570a70efeecb")
    #expect(dataset.securityPolicy?.rotationTime == 672)
    #expect(dataset.securityPolicy?.flags == [0xF7, 0xF8])
    #expect(dataset.pendingTimestamp == nil)
    #expect(dataset.delayTimer == nil)
    #expect(dataset.domainName == nil)
    #expect(dataset.wakeUpChannel == nil)
    #expect(dataset.unknown.isEmpty)
  }

  @Test("A pending dataset has its timestamp and its delay in milliseconds")
  func pending() throws {
    let dataset = try Samples.vector("G11-pending")
    #expect(dataset.kind == .pending)
    #expect(dataset.pendingTimestamp == Timestamp(seconds: 2))
    #expect(dataset.activeTimestamp == Timestamp(seconds: 1))
    #expect(dataset.delayTimer == 46354)
    #expect(dataset.channel?.number == 26)
  }

  @Test("The dataset of a real router with a wake-up channel is complete")
  func realRouter() throws {
    let dataset = try OperationalDataset(hex: Samples.realRouterHex)
    try dataset.requireComplete()
    #expect(dataset.kind == .complete)
    #expect(dataset.bytes.count == 111)
    #expect(dataset.wakeUpChannel == Channel(number: 24))
    #expect(dataset.channel == Channel(number: 21))
    #expect(dataset.panID == 13260)
    #expect(dataset.networkName == "OpenThread-33cc")
    #expect(dataset.extendedPANID?.description == "2d3f0ee2dd67caf1")
    #expect(dataset.meshLocalPrefix?.ipv6Text == "fd7e:88b2:789b:1faa::/64")
    #expect(dataset.networkKey?.revealedHex == "63c61007f020b7424ac5a45eeca256f2")
    #expect(dataset.pskc?.revealedHex == "edc7d687d806dc47b152f4feefafa431")
    #expect(dataset.unknown.isEmpty)
    let policy = try #require(dataset.securityPolicy)
    #expect(policy.allowsObtainingNetworkKey && policy.allowsNativeCommissioning)
    #expect(policy.allowsLegacyRouters && policy.allowsExternalCommissioning)
    #expect(!policy.sendsLegacyBeacons)
    #expect(dataset.hex == Samples.realRouterHex.lowercased())
  }

  @Test("An empty domain name is a name, not a missing one")
  func emptyDomainName() throws {
    #expect(try OperationalDataset(hex: "3b00").domainName == "")
    #expect(try OperationalDataset(hex: "3b0468c3a46e").domainName == "hän")
  }
}
