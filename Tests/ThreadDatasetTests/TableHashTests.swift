import Testing

@testable import ThreadDataset

@Suite("The hash of tables in memory") struct TableHashTests {
  @Test("Ids that follow each other, or differ in one half, are spread over all of a table") func spread() {
    let ids =
      (0..<4_096).map { BorderAgentID(high: 0xA1B2_C3D4_0000_0000 + $0, low: 0) }
      + (1..<4_097).map { BorderAgentID(high: 0xA1B2_C3D4_0000_0000, low: $0 << 48) }
    let places = Set(ids.map { $0._rawHashValue(seed: 7) & 0xFFFF })
    // Of 8,192 in 65,536 places at random about 7,700 are alone.
    #expect(places.count > 7_400)
    #expect(Set(ids.map { $0._rawHashValue(seed: 7) }).count == ids.count)
  }

  @Test("Equal values have one hash in a table, and another one in another") func seeds() {
    let (one, same) = (BorderAgentID(high: 1, low: 2), BorderAgentID(high: 1, low: 2))
    #expect(one._rawHashValue(seed: 1) == same._rawHashValue(seed: 1))
    #expect(one._rawHashValue(seed: 1) != one._rawHashValue(seed: 2))
  }

  @Test("Texts of any length have hashes of their own, also with zeros at their end") func texts() {
    let texts = (0..<40).map { [UInt8](repeating: 0, count: $0) } + (0..<40).map { Array(UInt8(0)...UInt8($0)) }
    let hashes = texts.map { $0.withUnsafeBytes { TableHash.mix($0, seed: 3) } }
    // The text of one zero is in both.
    #expect(Set(hashes).count == texts.count - 1)
    let again = texts.map { $0.withUnsafeBytes { TableHash.mix($0, seed: 3) } }
    #expect(hashes == again)
  }
}
