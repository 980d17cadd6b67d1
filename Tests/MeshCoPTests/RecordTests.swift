import Testing

@testable import MeshCoP

struct RecordTests {
  @Test("A number is taken once, and none that is 64 or more below the highest") func window() {
    var window = ReplayWindow()
    let numbers: [(UInt64, Bool)] = [
      (0, true), (0, false), (1, true), (3, true), (2, true), (2, false), (66, true), (2, false), (3, false), (4, true),
      (4, false), (1 << 47, true), (66, false), ((1 << 47) - 63, true), ((1 << 47) - 64, false),
    ]
    for (number, isNew) in numbers {
      #expect(window.isNew(number) == isNew, "\(number)")
      if isNew { window.insert(number) }
    }
  }

  @Test("The records of a datagram are read up to the first that is invalid") func split() {
    let record = Record.write(.handshake, 7, [1, 2, 3])
    let cases: [(String, [UInt8], Int)] = [
      ("none", [], 0), ("one", record, 1), ("two", record + record, 2), ("a byte too few", record.dropLast(), 0),
      ("one and a head", record + record.prefix(12), 1), ("an empty one", Record.write(.alert, 1, []), 1),
      ("another version", [22, 3, 3] + record.dropFirst(3), 0),
      ("DTLS 1.0", [22, 0xFE, 0xFF] + record.dropFirst(3), 1),
      ("DTLS 1.0 in epoch 1", [22, 0xFE, 0xFF, 0, 1] + record.dropFirst(5), 0),
      ("1,500 bytes", Record.write(.handshake, 1, [UInt8](repeating: 0, count: 1_487)), 1),
      ("1,501 bytes", Record.write(.handshake, 1, [UInt8](repeating: 0, count: 1_488)), 0),
    ]
    for (name, datagram, count) in cases { #expect(Record.split(Array(datagram)).count == count, "\(name)") }
  }

  @Test("Fragments that do not fit to what has come are dropped, and a flight has 4 KB at most") func fragments() throws
  {
    func fragment(_ type: UInt8, _ sequence: UInt16, _ length: Int, _ offset: Int, _ bytes: [UInt8]) -> [UInt8] {
      [type] + bigEndian(length, 3) + bigEndian(sequence, 2) + bigEndian(offset, 3) + bigEndian(bytes.count, 3) + bytes
    }
    var assembly = HandshakeAssembly()
    assembly.take(fragment(2, 0, 4, 2, [3, 4]))
    // Another type, another length, past the end, too far ahead, too large with what is there.
    assembly.take(fragment(3, 0, 4, 0, [9, 9]))
    assembly.take(fragment(2, 0, 5, 0, [9, 9]))
    assembly.take(fragment(2, 0, 4, 3, [9, 9]))
    assembly.take(fragment(2, 4, 4, 0, [9, 9]))
    assembly.take(fragment(2, 1, 4_093, 0, [9, 9]))
    assembly.take(fragment(2, 0, 4, 0, [1, 2, 9]))
    let first = assembly.takeNext()
    // What came first counts.
    #expect(first?.body == [1, 2, 3, 4] && first?.sequence == 0)
    assembly.take(fragment(2, 0, 4, 0, [1, 2, 3, 4]))
    // That is four ahead of the next one.
    assembly.take(fragment(14, 5, 0, 0, []))
    for sequence in 2...4 as ClosedRange<UInt16> { assembly.take(fragment(14, sequence, 0, 0, [])) }
    let early = assembly.takeNext()
    #expect(early == nil)
    assembly.take(fragment(14, 1, 0, 0, []))
    let second = assembly.takeNext()
    #expect(second?.type == 14 && second?.body.isEmpty == true)
    let others = (2...5).map { _ in assembly.takeNext()?.sequence }
    #expect(others == [2, 3, 4, nil])
  }
}
