import Foundation
import Testing
import ThreadDataset

@testable import Home

@Suite struct DatasetSummaryTests {
  private struct Vectors: Decodable {
    struct Vector: Decodable {
      let hex: String
      let expect: String
    }

    let vectors: [Vector]

    /// The public vectors that are complete.
    static var complete: [OperationalDataset] {
      get throws {
        let tests = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
          .deletingLastPathComponent()
        let file = tests.appendingPathComponent("ThreadDatasetTests/Vectors/datasets.json")
        return try JSONDecoder().decode(Vectors.self, from: Data(contentsOf: file)).vectors.filter {
          $0.expect == "complete"
        }.map { try OperationalDataset(hex: $0.hex) }
      }
    }
  }

  /// Each of them with each parameter changed.
  private static var datasets: [OperationalDataset] {
    get throws {
      let all = try Vectors.complete
      #expect(all.count == 6)
      let key = try #require(NetworkKey(hex: "0102030405060708090a0b0c0d0e0f10"))
      let pskc = try #require(PSKc(hex: "0102030405060708090a0b0c0d0e0f10"))
      let prefix = try #require(MeshLocalPrefix(hex: "fdad70bfe5aa15de"))
      func policy(_ flags: [UInt8], _ hours: UInt16 = 672) throws -> DatasetComponent {
        .securityPolicy(try #require(SecurityPolicy(rotationTime: hours, flags: flags)))
      }
      let changes: [DatasetComponent] = try [
        .networkKey(key), .panID(0x1235), .channel(Channel(number: 16)), .networkName("net"), .pskc(pskc),
        .meshLocalPrefix(prefix), .domainName("domain"), .domainName(""), .extendedPANID(5), policy([0xFF, 0xF8]),
        policy([0xF7, 0xF8], 673), policy([0xF7]), policy([0xF7, 0xF8, 0]), policy([0xF7, 0xF8, 0, 0, 0, 1]),
        policy([0xF7, 0xF8, 0, 0, 0, 2]), policy([0xF7, 0xF8, 0, 0, 0, 1, 0]),
        .channelMask(ChannelMask(channels: [11, 12])), .other(TLV(type: 0xAB, value: [1])),
        .activeTimestamp(#require(Timestamp(seconds: 1, isAuthoritative: true))),
        .activeTimestamp(#require(Timestamp(seconds: 1, ticks: 1))), .activeTimestamp(#require(Timestamp(seconds: 0))),
      ]
      let partial = [TLVType.activeTimestamp, .channelMask, .meshLocalPrefix, .networkName, .pskc, .securityPolicy].map
      { all[0].removing($0) }
      let changed = try all.prefix(2).flatMap { one in try changes.map { try one.replacing($0) } }
      return all + partial + changed
    }
  }

  private static func summary(_ dataset: OperationalDataset) -> DatasetSummary? {
    DatasetSummary(dataset) { bytes, kind in
      var hasher = Hasher()
      hasher.combine(bytes: bytes)
      hasher.combine(kind)
      return Hash128(high: UInt64(kind), low: UInt64(bitPattern: Int64(hasher.finalize())))
    }
  }

  @Test("Two summaries differ, and are newer or older, as their datasets are and do") func pairs() throws {
    let all = try Self.datasets.map { ($0, try #require(Self.summary($0))) }
    for (mine, summary) in all {
      for (other, otherSummary) in all {
        let expected = mine.essentialDifferences(from: other)
        #expect(summary.differences(from: otherSummary).parameters == expected)
        #expect(summary.hasSameBytes(as: otherSummary) == (mine == other))
        let isAlike =
          switch (summary.relation(to: otherSummary), mine.relation(to: other)) {
          case (.match, .match), (.older, .older), (.newer, .newer), (.conflict, .conflict), (.mismatch, .mismatch):
            true
          default: false
          }
        #expect(isAlike)
      }
    }
  }

  @Test("A summary has what is shown of a dataset, and says whether its key is printed somewhere") func values() throws
  {
    let dataset = try #require(try Vectors.complete.first)
    let summary = try #require(Self.summary(dataset))
    #expect(summary.name == "OpenThreadDemo" && summary.network == dataset.extendedPANID)
    #expect(summary.parameters?.channel == 15 && summary.parameters?.panID == 0x1234)
    #expect(summary.parameters?.meshLocalPrefix == 0xFDAD_70BF_E5AA_15DD)
    #expect(summary.activeSeconds == 1 && summary.parameters?.isKeyWellKnown == true)
    #expect(summary.isComplete && summary.lacks.isEmpty)
  }

  @Test("A summary lacks what its dataset lacks; without what a Matter device needs there is none") func lacks() throws
  {
    let whole = try #require(try Vectors.complete.first)
    for type in [TLVType.channel, .extendedPANID, .networkKey, .panID] {
      #expect(Self.summary(whole.removing(type)) == nil, "\(type)")
    }
    #expect(Self.summary(try whole.replacing(.delayTimer(1))) == nil)
    let others: [TLVType] = [.activeTimestamp, .channelMask, .meshLocalPrefix, .networkName, .pskc, .securityPolicy]
    for types in others.map({ [$0] }) + [others] {
      let dataset = types.reduce(whole) { $0.removing($1) }
      let summary = try #require(Self.summary(dataset))
      #expect(summary.hasCredentials && !summary.isComplete)
      #expect(summary.lacks == types && dataset.missing == types)
    }
  }

  @Test("A network that is preferred by its Extended PAN ID alone has other keys than any dataset") func named() {
    let named = DatasetSummary(network: 1, name: "net-1")
    let whole = DatasetSummary.of(1)
    #expect(!named.hasCredentials && !whole.hasKeys(of: named) && !whole.isSame(as: named))
    #expect(named.isCovered(by: whole) && !whole.isCovered(by: named))
    #expect(!named.isCovered(by: .of(2)))
    #expect(
      whole.differences(from: named).parameters == [
        .networkKey, .panID, .channel, .pskc, .meshLocalPrefix, .securityPolicy,
      ])
  }

  @Test(
    "What becomes of a dataset that a router reports, confirms, or a program stores",
    arguments: [
      (DatasetSummary.of(1, at: 5), DatasetDecision.keep, DatasetDecision.keep, DatasetDecision.keep),
      (.of(1, at: 5, other: 1), .keep, .update([]), .update([])),
      (.of(1, at: 6), .update([]), .update([]), .update([])), (.of(1, at: 4), .ignoreOlder, .update([]), .update([])),
      (.of(1, at: 5, channel: 20), .conflict(.channel), .update(.channel), .update(.channel)),
      (
        .of(2, at: 1), .move(from: 1, [.extendedPANID, .networkName]), .move(from: 1, [.extendedPANID, .networkName]),
        .move(from: 1, [.extendedPANID, .networkName])
      ),
    ]) func decision(
      _ incoming: DatasetSummary, _ reported: DatasetDecision, _ confirmed: DatasetDecision,
      _ requested: DatasetDecision
    )
  {
    let stored = DatasetSummary.of(1, at: 5)
    #expect(DatasetDecision(stored: stored, reported: incoming) == reported)
    #expect(DatasetDecision(stored: stored, confirmed: incoming) == confirmed)
    #expect(DatasetDecision(stored: stored, requested: incoming) == requested)
    #expect(DatasetDecision(stored: nil, reported: incoming) == .store)
    #expect(DatasetDecision(stored: nil, confirmed: incoming) == .store)
    #expect(DatasetDecision(stored: nil, requested: incoming) == .store)
  }

  @Test("What is stored and not complete gives way to whatever its router reports") func gaveWay() {
    let stored = DatasetSummary.partial(1, at: 5)
    for (reported, expected) in [
      (stored, DatasetDecision.keep), (.of(1, at: 4), .update([.pskc, .meshLocalPrefix, .securityPolicy])),
      (.partial(1, at: 4, channel: 20), .update(.channel)), (.partial(1), .update([])),
      (.partial(2), .move(from: 1, [.extendedPANID, .networkName])),
    ] { #expect(DatasetDecision(stored: stored, reported: reported) == expected) }
  }

  @Test("Of a dataset that is not complete, what it lacks is not compared") func known() {
    let preferred = DatasetSummary.of(1, at: 5)
    for (dataset, expected) in [
      (DatasetSummary.partial(1), PreferredCheck.match), (.partial(1, at: 4), .match),
      (.partial(1, channel: 20), .mismatch(.channel)), (.partial(1, key: 2), .mismatch(.networkKey)),
      (.partial(1, at: 4, channel: 20), .stale(.channel)), (.partial(1, at: 5, channel: 20), .conflict(.channel)),
    ] { #expect(PreferredCheck(dataset, preferred: preferred) == expected) }
    #expect(!Membership.follows(wasMember: true, .partial(1), preferred: preferred))
  }
}
