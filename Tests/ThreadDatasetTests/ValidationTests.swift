import Testing
import ThreadDataset

@Suite("What is refused, and in which order") struct ValidationTests {
  struct Refusal: Sendable, CustomTestStringConvertible {
    let hex: String
    let code: DatasetError.Code
    let type: UInt8?
    let offset: Int
    let testDescription: String

    init(_ what: String, _ hex: String, _ code: DatasetError.Code, _ type: UInt8?, at offset: Int) {
      (testDescription, self.hex, self.code, self.type, self.offset) = (what, hex, code, type, offset)
    }
  }

  static let refusals: [Refusal] = [
    .init("a letter that is no digit", "0003g0", .notHex, nil, at: 2),
    .init("white space within", "0003 00001a", .notHex, nil, at: 2),
    .init("a character beyond ASCII", "00é0", .notHex, nil, at: 1),
    .init("a trailing character beyond ASCII", "00é", .notHex, nil, at: 1),
    .init("a prefix 0x", "0x000300001a", .notHex, nil, at: 0),
    .init("an odd number of digits", "000", .notHex, nil, at: 1),
    .init("an odd number of which the last is no digit", "00z", .notHex, nil, at: 1),
    .init("255 bytes", String(repeating: "00", count: 255), .tooLong, nil, at: 254),
    .init("a type without length", "000300001a05", .truncated, 5, at: 5),
    .init("a value cut off", "000300001a0510aa", .truncated, 5, at: 5),
    .init("the extended length", "000300001a03ff0004", .truncated, 3, at: 5),
    .init("a known type twice", "0102123400030000110102ffff", .duplicateTLV, 1, at: 9),
    .init("an unknown type twice", "aa00bb00aa00", .duplicateTLV, 0xAA, at: 4),
    .init("an empty channel mask", "3500", .badLength, 53, at: 0),
    .init("a long network name", "0311" + String(repeating: "41", count: 17), .badLength, 3, at: 0),
    .init("a long domain name", "3b11" + String(repeating: "41", count: 17), .badLength, 59, at: 0),
    .init("a short delay", "3403000000", .badLength, 52, at: 0),
    .init("a long wake-up channel", "4a0400001818", .badLength, 74, at: 0),
    .init("a security policy of 2", "0c0202a0", .badLength, 12, at: 0),
    .init("a wake-up channel 27", "aa004a030000" + "1b", .badValue, 74, at: 2),
    .init("PAN ID 0xFFFF", "0102ffff", .badValue, 1, at: 0),
    .init("a mesh-local prefix fe80", "0708fe80000000000000", .badValue, 7, at: 0),
    .init("a name that is not UTF-8", "0302c328", .badValue, 3, at: 0),
    .init("a domain name that is not UTF-8", "3b01ff", .badValue, 59, at: 0),
    .init("a name filled up with NUL", "0304686f0000", .badValue, 3, at: 0),
    .init("a name with a control character", "0303680765", .badValue, 3, at: 0),
    .init("a domain name with DEL", "3b027f41", .badValue, 59, at: 0),
    .init("a name with a control character of two bytes", "0303c28541", .badValue, 3, at: 0),
    .init("an Extended PAN ID of zeros", "02080000000000000000", .badValue, 2, at: 0),
    .init("a channel mask in reversed order", "3506000407fff800", .badValue, 53, at: 0),
    .init("a channel mask with channel 10", "35060004003fffe0", .badValue, 53, at: 0),
    .init("a channel mask with channel 27", "35060004001ffff0", .badValue, 53, at: 0),
    .init("a channel mask with 3 bytes on page 0", "35050003001fff", .badValue, 53, at: 0),
    .init("a second mask entry cut off", "350900040" + "01fffe00204ff", .badValue, 53, at: 0),
  ]

  @Test("Refused by name, type and offset", arguments: refusals) func refused(_ refusal: Refusal) {
    let error = #expect(throws: DatasetError.self) { try OperationalDataset(hex: refusal.hex) }
    #expect(error?.code == refusal.code)
    #expect(error?.type == refusal.type)
    #expect(error?.offset == refusal.offset)
  }

  /// Each has the flaws of all codes that follow its own.
  @Test(
    "The gravest flaw of the whole dataset is said, wherever it lies",
    arguments: [
      ("0102ffff030003000aa", "not_hex"), ("0102ffff0300aa00aa00" + String(repeating: "00", count: 250), "too_long"),
      ("0102ffff0300aa00aa0005", "truncated"), ("0102ffff0300aa00aa00", "duplicate_tlv"),
      ("0102ffff0300aa00", "bad_length"), ("0102ffffaa00", "bad_value"),
    ]) func order(hex: String, code: String)
  {
    let error = #expect(throws: DatasetError.self) { try OperationalDataset(hex: hex) }
    #expect(error?.code.rawValue == code)
  }

  @Test("Of two flaws of one kind the first is said") func firstOfAKind() {
    let error = #expect(throws: DatasetError.self) { try OperationalDataset(hex: "aa000102ffff00030000ff") }
    #expect(error?.offset == 2)
  }

  @Test(
    "What looks odd and is allowed",
    arguments: [
      "", "  \t\r\n", " 000300001a\n", "000302ffff", "aa00", "350c000400000000020401020304", "35020200", "0c0302a0f7",
      "0c0602a0f7f80000", "0102fffe", "01020000", "0304f09f8fa0", "0e08ffffffffffffffff", "0208ffffffffffffffff",
    ]) func allowed(hex: String) throws
  {
    let dataset = try OperationalDataset(hex: hex)
    #expect(dataset.hex == hex.filter { !$0.isWhitespace })
    #expect(dataset.kind == .partial)
  }

  @Test("254 bytes are enough and not too many") func longest() throws {
    let dataset = try OperationalDataset(bytes: [0xAA, 252] + Array(repeating: 7, count: 252))
    #expect(dataset.bytes.count == OperationalDataset.maximumLength)
  }

  @Test("An error names the TLV, says what was expected, and reads well") func wording() {
    let error = #expect(throws: DatasetError.self) {
      try OperationalDataset(hex: "000300001a0508" + String(repeating: "ab", count: 8))
    }
    #expect(error?.tlvName == "Network Key")
    #expect(error?.message == "Network Key at byte 5 has 8 bytes, expected 16")
    #expect(error?.description == "bad_length: Network Key at byte 5 has 8 bytes, expected 16")
  }

  @Test("The codes sort in the order in which they are tested") func codes() {
    #expect(DatasetError.Code.allCases.sorted() == DatasetError.Code.allCases)
    #expect(
      DatasetError.Code.allCases.map(\.rawValue) == [
        "not_hex", "too_long", "truncated", "duplicate_tlv", "bad_length", "bad_value", "missing_tlv",
      ])
  }
}

@Suite("Completeness") struct CompletenessTests {
  static let needed: [TLVType] = [
    .activeTimestamp, .channel, .channelMask, .extendedPANID, .meshLocalPrefix, .networkKey, .networkName, .panID,
    .pskc, .securityPolicy,
  ]

  @Test("Without one needed TLV a dataset is partial, and that one is named", arguments: needed) func missing(
    type: TLVType
  ) throws {
    let dataset = try Samples.vector("G1").removing(type)
    #expect(dataset.kind == .partial)
    let error = #expect(throws: DatasetError.self) { try dataset.requireComplete() }
    #expect(error?.code == .missingTLV)
    #expect(error?.type == type.rawValue)
    #expect(error?.offset == dataset.bytes.count)
    #expect(error?.message.contains(type.name) == true)
  }

  @Test("The first one missing is the TLV of the error, and all of them are named") func several() throws {
    var present: [DatasetComponent] = []
    let all: [DatasetComponent] = try [
      .activeTimestamp(#require(Timestamp(seconds: 1))), .channel(Channel(number: 11)),
      .channelMask(ChannelMask(channels: 11...26)), .extendedPANID(#require(ExtendedPANID(hex: "0102030405060708"))),
      .meshLocalPrefix(#require(MeshLocalPrefix(hex: "fd00000000000001"))),
      .networkKey(#require(NetworkKey(hex: "0102030405060708090a0b0c0d0e0f10"))), .networkName("home"), .panID(7),
      .pskc(#require(PSKc(hex: "f102030405060708090a0b0c0d0e0f10"))),
      .securityPolicy(#require(SecurityPolicy(rotationTime: 672, flags: [0xF7, 0xF8]))),
    ]
    for (index, component) in all.enumerated() {
      let error = #expect(throws: DatasetError.self) { try OperationalDataset(present).requireComplete() }
      #expect(error?.type == Self.needed[index].rawValue)
      // Of nothing at all it is said that it is empty.
      for type in Self.needed[index...] where index > 0 {
        #expect(error?.message.contains(type.name) == true, "\(type)")
      }
      present.append(component)
    }
    #expect(try OperationalDataset(present).kind == .complete)
  }

  @Test(
    "The names of what is missing read as a sentence",
    arguments: [
      ([.pskc], "PSKc is missing, expected in an active dataset"),
      ([.pskc, .channelMask], "Channel Mask and PSKc are missing, expected in an active dataset"),
      (
        [.pskc, .channelMask, .networkKey],
        "Channel Mask, Network Key and PSKc are missing, expected in an active dataset"
      ),
    ] as [([TLVType], String)]) func sentence(types: [TLVType], sentence: String) throws
  {
    let dataset = try types.reduce(Samples.vector("G1")) { $0.removing($1) }
    let error = #expect(throws: DatasetError.self) { try dataset.requireComplete() }
    #expect(error?.message == sentence)
  }

  @Test("Of a pending dataset its own TLVs are named beside those of an active one") func pending() throws {
    let dataset = try Samples.vector("G11-pending").removing(.delayTimer, .pskc)
    let error = #expect(throws: DatasetError.self) { try dataset.requireComplete() }
    #expect(error?.message == "PSKc and Delay Timer are missing, expected in a pending dataset")
  }

  @Test("A pending dataset needs timestamp and delay", arguments: [TLVType.pendingTimestamp, .delayTimer])
  func halfPending(type: TLVType) throws {
    let dataset = try Samples.vector("G11-pending").removing(type)
    #expect(dataset.kind == .partial)
    let error = #expect(throws: DatasetError.self) { try dataset.requireComplete() }
    #expect(error?.type == type.rawValue)
    #expect(error?.message.contains("pending") == true)
  }

  @Test("Nothing at all is said to be empty") func empty() throws {
    let dataset = try OperationalDataset(bytes: [])
    let error = #expect(throws: DatasetError.self) { try dataset.requireComplete() }
    #expect(error?.code == .missingTLV)
    #expect(error?.offset == 0)
    #expect(error?.message.contains("empty") == true)
  }
}
