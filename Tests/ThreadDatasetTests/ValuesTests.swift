import Testing

@testable import ThreadDataset

@Suite("Values of a dataset") struct ValuesTests {
  @Test("Every value of an active dataset is read") func active() throws {
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

  @Test("A pending dataset has its timestamp and its delay in milliseconds") func pending() throws {
    let dataset = try Samples.vector("G11-pending")
    #expect(dataset.kind == .pending)
    #expect(dataset.pendingTimestamp == Timestamp(seconds: 2))
    #expect(dataset.activeTimestamp == Timestamp(seconds: 1))
    #expect(dataset.delayTimer == 46354)
    #expect(dataset.channel?.number == 26)
  }

  @Test("The dataset of a real router with a wake-up channel is complete") func realRouter() throws {
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

  @Test("An empty domain name is a name, not a missing one") func emptyDomainName() throws {
    #expect(try OperationalDataset(hex: "3b00").domainName == "")
    #expect(try OperationalDataset(hex: "3b0468c3a46e").domainName == "hän")
  }
}

@Suite("Timestamp") struct TimestampTests {
  @Test("Seconds, ticks and the authoritative bit are read from their places") func parts() throws {
    let dataset = try OperationalDataset(hex: "0e08123456789abcffff")
    let timestamp = try #require(dataset.activeTimestamp)
    #expect(timestamp.seconds == 0x1234_5678_9ABC)
    #expect(timestamp.ticks == 0x7FFF)
    #expect(timestamp.isAuthoritative)
    #expect(try OperationalDataset(.activeTimestamp(timestamp)) == dataset)
  }

  @Test("Order and equality are those of seconds and ticks") func order() throws {
    let first = try #require(Timestamp(seconds: 1, ticks: 5))
    let authoritative = try #require(Timestamp(seconds: 1, ticks: 5, isAuthoritative: true))
    let later = try #require(Timestamp(seconds: 1, ticks: 6))
    let latest = try #require(Timestamp(seconds: 2))
    #expect(first == authoritative)
    #expect(Set([first, authoritative]).count == 1)
    #expect(!(first < authoritative) && !(authoritative < first))
    #expect(authoritative < later)
    #expect(later < latest)
  }

  @Test("Out of range is no timestamp; later stops at the end") func range() throws {
    #expect(Timestamp(seconds: 1 << 48) == nil)
    #expect(Timestamp(seconds: 0, ticks: 1 << 15) == nil)
    let last = try #require(Timestamp(seconds: (1 << 48) - 1, ticks: 3))
    #expect(last.later() == last)
    #expect(last.later(bySeconds: .max) == last)
    #expect(Timestamp(seconds: 1)?.later(bySeconds: 4) == Timestamp(seconds: 5))
  }
}

@Suite("Channel mask") struct ChannelMaskTests {
  @Test("The channels of a mask there and back") func channels() throws {
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

@Suite("Identities and prefixes") struct IdentityTests {
  @Test("An Extended PAN ID has 8 bytes that are not all zero") func extendedPANID() {
    #expect(ExtendedPANID(hex: "00000000DEADBEEF")?.description == "00000000deadbeef")
    #expect(ExtendedPANID(hex: "deadbeef") == nil)
    #expect(ExtendedPANID(hex: "0000000000000000") == nil)
    #expect(ExtendedPANID(bytes: [1, 2, 3, 4, 5, 6, 7, 8])?.bytes == [1, 2, 3, 4, 5, 6, 7, 8])
  }

  @Test(
    "A Mesh-Local Prefix reads as an IPv6 prefix",
    arguments: [
      ("fdad70bfe5aa15dd", "fdad:70bf:e5aa:15dd::/64"), ("fd00000000000000", "fd00::/64"),
      ("fd00000000000001", "fd00:0:0:1::/64"), ("fd0000a000010000", "fd00:a0:1::/64"),
    ]) func meshLocalPrefix(hex: String, text: String)
  {
    #expect(MeshLocalPrefix(hex: hex)?.ipv6Text == text)
    #expect(MeshLocalPrefix(hex: hex)?.description == hex)
    #expect(MeshLocalPrefix(hex: "fe" + hex.dropFirst(2)) == nil)
  }
}

@Suite("Border Agent ID") struct BorderAgentIDTests {
  @Test("8 and 16 bytes are identities; the long form with zeros is the short one") func lengths() throws {
    let short = try #require(BorderAgentID(hex: "A1B2C3D4E5F60718"))
    #expect(short.description == "a1b2c3d4e5f60718")
    #expect(BorderAgentID(hex: "a1b2c3d4e5f607180000000000000000") == short)
    let long = try #require(BorderAgentID(hex: "8facafc7a82f06fcc1c5920216206f30"))
    #expect(long.bytes.count == 16)
    #expect(long.description == "8facafc7a82f06fcc1c5920216206f30")
    #expect(BorderAgentID(hex: "00000000000000000000000000000001")?.bytes.count == 16)
    #expect(BorderAgentID(bytes: long.bytes[..<8])?.bytes.count == 8)
  }

  @Test(
    "Anything else is none",
    arguments: [
      "", "a1", "a1b2c3d4e5f607", "a1b2c3d4e5f60718a1", "x1b2c3d4e5f60718", " a1b2c3d4e5f6071", "0000000000000000",
      "00000000000000000000000000000000",
    ]) func refused(hex: String)
  { #expect(BorderAgentID(hex: hex) == nil) }
}

@Suite("Network keys") struct NetworkKeyTests {
  @Test("Keys of public vectors are well known", arguments: Samples.soundVectors) func publicVectors(
    vector: Samples.Vector
  ) throws { #expect(try OperationalDataset(hex: vector.hex).networkKey?.isWellKnown == true) }

  @Test("Trivial keys are well known, a made one is not") func others() throws {
    #expect(NetworkKey(bytes: Array(repeating: 0, count: 16))?.isWellKnown == true)
    #expect(NetworkKey(bytes: Array(repeating: 0xFF, count: 16))?.isWellKnown == true)
    #expect(NetworkKey(hex: "00112233445566778899aabbccddeefe")?.isWellKnown == false)
    #expect(try OperationalDataset(hex: Samples.realRouterHex).networkKey?.isWellKnown == false)
    #expect(NetworkKey(hex: "0011") == nil)
    #expect(PSKc(bytes: Array(repeating: 0, count: 17)) == nil)
  }
}

@Suite("Hexadecimal text") struct HexadecimalTests {
  @Test("Every byte there and back, in both cases") func everyByte() {
    let bytes = Array(UInt8.min ... .max)
    let text = Hexadecimal.encode(bytes)
    #expect(text.count == 512)
    #expect(text.hasPrefix("000102030405060708090a0b0c0d0e0f10"))
    #expect(text.hasSuffix("fdfeff"))
    #expect(Hexadecimal.decode(text) == bytes)
    #expect(Hexadecimal.decode(text.uppercased()) == bytes)
    #expect(Hexadecimal.decode(text.dropFirst(2)) == Array(bytes.dropFirst()))
  }

  @Test("Any sequence of bytes is encoded") func sequences() {
    #expect(Hexadecimal.encode([0xAB, 0x01][...]) == "ab01")
    #expect(Hexadecimal.encode(stride(from: 1, to: 4, by: 1).lazy.map { UInt8($0) }) == "010203")
    #expect(Hexadecimal.encode([]) == "")
  }

  @Test("Only digits are digits") func digits() {
    for byte in UInt8.min ... .max {
      let character = Character(UnicodeScalar(byte))
      let isDigit = "0123456789abcdefABCDEF".contains(character)
      #expect((Hexadecimal.decode("0\(character)") != nil) == isDigit)
      #expect((Hexadecimal.decode("\(character)0") != nil) == isDigit)
    }
    #expect(Hexadecimal.decode("") == [])
    #expect(Hexadecimal.decode("0") == nil)
    // Eight are looked at together.
    let text = Array("09afAF5a6BcDe8F7".utf8)
    #expect(
      Hexadecimal.decode(String(decoding: text, as: UTF8.self)) == [0x09, 0xAF, 0xAF, 0x5A, 0x6B, 0xCD, 0xE8, 0xF7])
    #expect(text.withUnsafeBufferPointer { Hexadecimal.number($0, at: 0) } == 0x09AF_AF5A_6BCD_E8F7)
    #expect(text.withUnsafeBufferPointer { Hexadecimal.number($0, at: 1) } == nil)
    for place in text.indices {
      for byte in UInt8.min ... .max {
        var other = text
        other[place] = byte
        let isDigit = "0123456789abcdefABCDEF".utf8.contains(byte)
        other.withUnsafeBufferPointer { other in
          #expect((Hexadecimal.decode(other) != nil) == isDigit, "\(byte) at \(place)")
          #expect((Hexadecimal.number(other, at: 0) != nil) == isDigit, "\(byte) at \(place)")
        }
      }
    }
    #expect(Hexadecimal.decode(" 00") == nil)
    #expect(Hexadecimal.decode("０0") == nil)
  }
}
