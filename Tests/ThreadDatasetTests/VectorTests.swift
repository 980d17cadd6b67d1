import Testing
import ThreadDataset

@Suite("Public vectors") struct VectorTests {
  @Test("Each vector is accepted as its kind, or refused with its code", arguments: Samples.vectors) func outcome(
    vector: Samples.Vector
  ) { #expect(outcome(of: vector.hex) == vector.expect) }

  @Test("All vectors are there") func count() {
    #expect(Samples.vectors.count == 24)
    #expect(Set(Samples.vectors.map(\.id)).count == 24)
  }

  @Test("A sound vector is kept byte for byte", arguments: Samples.soundVectors) func roundTrip(vector: Samples.Vector)
    throws
  {
    let dataset = try OperationalDataset(hex: vector.hex)
    #expect(dataset.hex == vector.hex)
    #expect(try OperationalDataset(bytes: dataset.bytes) == dataset)
  }

  @Test("Unknown TLVs are kept byte for byte") func unknown() throws {
    let dataset = try Samples.vector("G13-unknownTLVs")
    #expect(dataset.unknown == [TLV(type: 0xAA, value: [0xFF]), TLV(type: 0xBB, value: [0x01, 0x02])])
    #expect(dataset.hex.hasSuffix("aa01ffbb020102"))
  }

  @Test("The reordered vector matches the first one") func reordered() throws {
    let first = try Samples.vector("G1")
    let reordered = try Samples.vector("G14-reordered")
    #expect(first != reordered)
    #expect(first.relation(to: reordered) == .match)
    #expect(first.essentialDifferences(from: reordered).isEmpty)
  }

  private func outcome(of hex: String) -> String {
    do {
      let dataset = try OperationalDataset(hex: hex)
      try dataset.requireComplete()
      return dataset.kind.rawValue
    } catch { return error.code.rawValue }
  }
}
