// SPDX-License-Identifier: Apache-2.0

import Testing
import ThreadDataset

@Suite("Completeness")
struct CompletenessTests {
  static let needed: [TLVType] = [
    .activeTimestamp, .channel, .channelMask, .extendedPANID, .meshLocalPrefix, .networkKey,
    .networkName, .panID, .pskc, .securityPolicy,
  ]

  @Test("Without one needed TLV a dataset is partial, and that one is named", arguments: needed)
  func missing(type: TLVType) throws {
    let dataset = try Samples.vector("G1").removing(type)
    #expect(dataset.kind == .partial)
    let error = #expect(throws: DatasetError.self) { try dataset.requireComplete() }
    #expect(error?.code == .missingTLV)
    #expect(error?.type == type.rawValue)
    #expect(error?.offset == dataset.bytes.count)
    #expect(error?.message.contains(type.name) == true)
  }

  @Test("The first one missing is named")
  func first() throws {
    var present: [DatasetComponent] = []
    let all: [DatasetComponent] = try [
      .activeTimestamp(#require(Timestamp(seconds: 1))), .channel(Channel(number: 11)),
      .channelMask(ChannelMask(channels: 11...26)),
      .extendedPANID(#require(ExtendedPANID(hex: "0102030405060708"))),
      .meshLocalPrefix(#require(MeshLocalPrefix(hex: "fd00000000000001"))),
      .networkKey(#require(NetworkKey(hex: "0102030405060708090a0b0c0d0e0f10"))),
      .networkName("home"), .panID(7),
      .pskc(#require(PSKc(hex: "f102030405060708090a0b0c0d0e0f10"))),
      .securityPolicy(#require(SecurityPolicy(rotationTime: 672, flags: [0xF7, 0xF8]))),
    ]
    for (component, type) in zip(all, Self.needed) {
      let error = #expect(throws: DatasetError.self) {
        try OperationalDataset(present).requireComplete()
      }
      #expect(error?.type == type.rawValue)
      present.append(component)
    }
    #expect(try OperationalDataset(present).kind == .complete)
  }

  @Test(
    "A pending dataset needs timestamp and delay",
    arguments: [TLVType.pendingTimestamp, .delayTimer])
  func halfPending(type: TLVType) throws {
    let dataset = try Samples.vector("G11-pending").removing(type)
    #expect(dataset.kind == .partial)
    let error = #expect(throws: DatasetError.self) { try dataset.requireComplete() }
    #expect(error?.type == type.rawValue)
    #expect(error?.message.contains("pending") == true)
  }

  @Test("Nothing at all is said to be empty")
  func empty() throws {
    let dataset = try OperationalDataset(bytes: [])
    let error = #expect(throws: DatasetError.self) { try dataset.requireComplete() }
    #expect(error?.code == .missingTLV)
    #expect(error?.offset == 0)
    #expect(error?.message.contains("empty") == true)
  }
}
