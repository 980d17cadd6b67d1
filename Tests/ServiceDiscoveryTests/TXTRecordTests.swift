import Testing

@testable import ServiceDiscovery

struct TXTRecordTests {
  private func record(_ texts: String...) -> TXTRecord { TXTRecord(entries: texts.map { Array($0.utf8) }) }

  @Test("A value is the bytes after the first equals sign, also when they are no text") func binaryValue() {
    let record = TXTRecord(entries: [Array("xp=".utf8) + [0, 0xFF, 0x3D, 0x11]])
    #expect(record["xp"] == [0, 0xFF, 0x3D, 0x11])
    #expect(record.refused == 0)
  }

  @Test("A key with an equals sign and nothing after it has an empty value") func emptyValue() {
    #expect(record("nn=")["nn"] == [])
  }

  @Test("A key without an equals sign is there, and has no value") func noValue() {
    let record = record("flag")
    #expect(record["flag"] == nil)
    #expect(record.contains("flag"))
    #expect(!record.contains("other"))
  }

  @Test("Upper and lower case of a key are the same") func letterCase() {
    #expect(record("Vn=eero")["vN"] == Array("eero".utf8))
  }

  @Test("Of a repeated key only the first counts, also when it has no value") func repeatedKey() {
    let record = record("id=1", "ID=2", "sb", "sb=4")
    #expect(record["id"] == Array("1".utf8))
    #expect(record["sb"] == nil)
    #expect(record.refused == 0)
  }

  @Test("An entry without a key and an empty one are ignored") func noKey() {
    let record = record("=value", "", "=", "rv=1")
    #expect(record == self.record("rv=1"))
    #expect(!record.contains(""))
  }

  @Test("A key with a byte that is not printable ASCII is refused", arguments: [0, 0x1F, 0x7F, 0xC3])
  func unprintableKey(_ byte: UInt8) {
    let record = TXTRecord(entries: [[0x61, byte, 0x3D, 0x31], Array("rv=1".utf8)])
    #expect(record.refused == 1)
    #expect(record["rv"] == Array("1".utf8))
  }

  @Test("A key may have 32 bytes, and is refused with 33") func longKey() {
    let longest = String(repeating: "k", count: 32)
    let record = record(longest + "=1", longest + "k=1")
    #expect(record.contains(longest))
    #expect(record.refused == 1)
  }

  @Test("An entry that does not fit into its length byte is refused") func longEntry() {
    #expect(TXTRecord(entries: [Array("k=".utf8) + [UInt8](repeating: 1, count: 253)]).contains("k"))
    #expect(TXTRecord(entries: [Array("k=".utf8) + [UInt8](repeating: 1, count: 254)]).refused == 1)
  }

  @Test("Of more than 64 entries the rest is refused") func manyEntries() {
    let record = TXTRecord(entries: (0..<70).map { Array("k\($0)=".utf8) })
    #expect(record.contains("k63"))
    #expect(!record.contains("k64"))
    #expect(record.refused == 6)
  }

  @Test("Of more than 1,300 bytes the rest is refused") func manyBytes() {
    // 13 entries of 100 bytes on the wire.
    let full = (0..<13).map { Array("k\($0)=".utf8) }.map { $0 + [UInt8](repeating: 0x20, count: 99 - $0.count) }
    #expect(TXTRecord(entries: full).refused == 0)
    let record = TXTRecord(entries: full + [Array("a=1".utf8), Array("b=1".utf8)])
    #expect(record.contains("k12"))
    #expect(!record.contains("a"))
    #expect(record.refused == 2)
  }

  @Test("Nothing at all is an empty record") func empty() {
    #expect(TXTRecord(entries: []) == TXTRecord(entries: [[]]))
  }

  @Test("Random bytes are taken or refused, and never more than the limits") func randomBytes() {
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<100 {
      let entries = (0..<Int.random(in: 0...80, using: &generator)).map { _ in
        (0..<Int.random(in: 0...300, using: &generator)).map { _ in UInt8.random(in: 0...255, using: &generator) }
      }
      let record = TXTRecord(entries: entries)
      #expect(record.refused <= entries.count)
      #expect(!record.contains(""))
    }
  }
}

struct CheckedTextTests {
  private func text(_ bytes: [UInt8], limit: Int = 63) -> String? {
    (bytes.map { CChar(bitPattern: $0) } + [0]).withUnsafeBufferPointer {
      CheckedText.text($0.baseAddress, limit: limit)
    }
  }

  @Test(
    "A name that can be shown is taken", arguments: ["router", "Küche – Router #2", "ⴰ\u{200D}ⴱ", "👨‍👩‍👧 Room", "a.b\\c"])
  func harmless(_ name: String) { #expect(text(Array(name.utf8)) == name) }

  @Test(
    "A name that changes how a terminal shows it is refused",
    arguments: ["a\u{1B}[2J", "a\nb", "a\u{7F}", "a\u{9B}b", "a\u{202E}b", "a\u{2066}b", "a\u{2028}b"]) func harmful(
      _ name: String
    )
  { #expect(text(Array(name.utf8)) == nil) }

  @Test("Bytes that are no UTF-8 are refused", arguments: [[0xFF], [0xC3], [0xED, 0xA0, 0x80]]) func invalid(
    _ bytes: [UInt8]
  ) { #expect(text([0x61] + bytes) == nil) }

  @Test("A name is refused when it is empty, missing, or longer than the limit") func length() {
    #expect(text([]) == nil)
    #expect(CheckedText.text(nil, limit: 63) == nil)
    #expect(text([UInt8](repeating: 0x61, count: 63)) != nil)
    #expect(text([UInt8](repeating: 0x61, count: 64)) == nil)
  }
}
