import Foundation
import TestKit
import Testing
import ThreadDataset

@Suite("Making datasets") struct EncodeTests {
  @Test("All values together give the bytes of a known dataset") func fromValues() throws {
    let known = try Samples.vector("G11-pending")
    let made = try OperationalDataset(
      .activeTimestamp(#require(known.activeTimestamp)), .pendingTimestamp(#require(known.pendingTimestamp)),
      .delayTimer(#require(known.delayTimer)), .channel(#require(known.channel)),
      .channelMask(#require(known.channelMask)), .extendedPANID(#require(known.extendedPANID)),
      .meshLocalPrefix(#require(known.meshLocalPrefix)), .networkKey(#require(known.networkKey)),
      .networkName(#require(known.networkName)), .panID(#require(known.panID)), .pskc(#require(known.pskc)),
      .securityPolicy(#require(known.securityPolicy)))
    #expect(made == known)
  }

  @Test("A replaced value stands where the old one stood; unknown TLVs stay") func replacing() throws {
    let dataset = try Samples.vector("G13-unknownTLVs")
    let changed = try dataset.replacing(
      .channel(Channel(number: 25)), .networkName("x"), .wakeUpChannel(Channel(number: 11)),
      .activeTimestamp(#require(dataset.activeTimestamp).later()))
    #expect(
      changed.hex == dataset.hex.replacingOccurrences(of: "0e080000000000010000", with: "0e080000000000020000")
        .replacingOccurrences(of: "0003000013", with: "0003000019").replacingOccurrences(
          of: "030f4f70656e5468726561642d64396130", with: "030178") + "4a0300000b")
    #expect(changed.unknown == dataset.unknown)
    #expect(changed.relation(to: dataset) == .newer)
  }

  @Test("Secrets, identity and policy can be replaced") func replacingSecrets() throws {
    let key = try #require(NetworkKey(hex: "0102030405060708090a0b0c0d0e0f10"))
    let pskc = try #require(PSKc(hex: "f102030405060708090a0b0c0d0e0f10"))
    let identity = try #require(ExtendedPANID(hex: "a1a2a3a4a5a6a7a8"))
    let dataset = try Samples.vector("G1").replacing(
      .networkKey(key), .pskc(pskc), .extendedPANID(identity), .domainName("d"), .other(TLV(type: 200, value: [1])))
    #expect(dataset.networkKey == key)
    #expect(dataset.pskc == pskc)
    #expect(dataset.extendedPANID == identity)
    #expect(dataset.domainName == "d")
    #expect(dataset.unknown == [TLV(type: 200, value: [1])])
  }

  @Test("What is not given is made at random, and the whole is complete", arguments: 1...20) func completing(seed: Int)
    throws
  {
    var random = SeededGenerator(seed: UInt64(seed))
    let first = try OperationalDataset(completing: [], from: &random)
    let second = try OperationalDataset(completing: [], from: &random)
    for dataset in [first, second] {
      #expect(dataset.kind == .complete)
      #expect(dataset.activeTimestamp?.seconds == 1)
      #expect(dataset.channelMask?.channels == Array(11...26))
      #expect(dataset.networkName?.hasPrefix("Thread-") == true)
    }
    let differences = first.essentialDifferences(from: second)
    for parameter in [DatasetParameter.networkKey, .extendedPANID, .pskc, .meshLocalPrefix] {
      #expect(differences.contains(parameter), "\(parameter)")
    }
  }

  @Test("What is given stays, and is checked") func completingGiven() throws {
    let known = try Samples.vector("G11-pending")
    var random = SeededGenerator(seed: 1)
    let made = try OperationalDataset(
      completing: [
        .channel(#require(known.channel)), .extendedPANID(#require(known.extendedPANID)),
        .networkKey(#require(known.networkKey)), .networkName(#require(known.networkName)),
        .other(TLV(type: 200, value: [1])),
      ], from: &random)
    #expect(made.kind == .complete)
    #expect(made.channel == known.channel && made.extendedPANID == known.extendedPANID)
    #expect(made.networkKey == known.networkKey && made.networkName == known.networkName)
    #expect(made.unknown == [TLV(type: 200, value: [1])])
    #expect(throws: DatasetError.self) {
      var random = SeededGenerator(seed: 1)
      _ = try OperationalDataset(completing: [.networkName("")], from: &random)
    }
  }

  @Test("A value out of range makes no dataset") func outOfRange() throws {
    let dataset = try Samples.vector("G1")
    func code(_ component: DatasetComponent) -> DatasetError.Code? {
      #expect(throws: DatasetError.self) { try dataset.replacing(component) }?.code
    }
    #expect(code(.channel(Channel(number: 27))) == .badValue)
    #expect(code(.panID(0xFFFF)) == .badValue)
    #expect(code(.networkName("")) == .badLength)
    #expect(code(.networkName("a name of seventeen")) == .badLength)
    #expect(code(.channelMask(ChannelMask(entries: []))) == .badLength)
    #expect(code(.channelMask(ChannelMask(entries: [.init(page: 0, mask: [1])]))) == .badValue)
    #expect(code(.other(TLV(type: 200, value: Array(repeating: 0, count: 200)))) == .tooLong)
    #expect(code(.other(TLV(type: 200, value: Array(repeating: 0, count: 300)))) == .tooLong)
  }

  @Test("The same type twice makes no dataset") func twice() {
    let error = #expect(throws: DatasetError.self) { try OperationalDataset(.panID(1), .panID(2)) }
    #expect(error?.code == .duplicateTLV)
  }
}
