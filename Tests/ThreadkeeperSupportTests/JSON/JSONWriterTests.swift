import Foundation
import TestKit
import Testing

@testable import ThreadkeeperSupport

@Suite("JSON that is written") struct JSONWriterTests {
  private func written(_ text: String) -> [UInt8] {
    var json = JSONWriter()
    json.text(text)
    return json.bytes
  }

  @Test("Members and elements are separated, and the names are as they are given") func forms() {
    var json = JSONWriter(capacity: 0)
    json.open()
    json.name("b")
    json.open("[")
    for number in [0, 10, UInt64.max] {
      json.separate()
      json.number(number)
    }
    json.close("]")
    json.name("a")
    json.open()
    json.close()
    json.name("c")
    json.word("x/y")
    json.name("d")
    json.hex(0x0123_4567_89AB_CDEF as UInt64)
    json.close()
    #expect(
      String(decoding: json.bytes, as: UTF8.self)
        == #"{"b":[0,10,18446744073709551615],"a":{},"c":"x/y","d":0123456789abcdef}"#)
  }

  @Test("Every character of a text is as Foundation writes it") func characters() throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .withoutEscapingSlashes
    for scalar in (0..<0x180).compactMap(Unicode.Scalar.init) + ["\u{2028}", "\u{10FFFF}"] {
      let text = "a\(scalar)b"
      #expect(try written(text) == Array(encoder.encode(text)), "\(scalar.value)")
    }
  }

  @Test("What needs an escape is found at each place of a text, and nothing else is escaped") func places() throws {
    let encoder = JSONEncoder()
    for count in 1...25 {
      let plain = String(repeating: "~", count: count)
      #expect(written(plain) == Array("\"\(plain)\"".utf8))
      for place in 0..<count {
        // Those that need one, and their neighbours, which do not.
        for scalar in ["\0", "\u{1F}", " ", "!", "\"", "#", "[", "\\", "]", "\u{7F}", "\u{80}", "\u{A2}", "\u{DC}"] {
          let text = "\(plain.prefix(place))\(scalar)\(plain.prefix(count - place - 1))"
          #expect(try written(text) == Array(encoder.encode(text)), "\(scalar) at \(place) of \(count)")
        }
      }
    }
  }

  @Test("Random texts come back as they were") func roundTrip() throws {
    var random = SeededGenerator(seed: 7)
    for _ in 0..<200 {
      let bytes = (0..<Int.random(in: 0..<40, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
      let text = String(decoding: bytes, as: UTF8.self)
      var read: String?
      _ = try UntrustedJSON.readMembers(of: Array(#"{"text":"#.utf8) + written(text) + Array("}".utf8), depth: 1) {
        if case .string(let string) = $0.value { read = string.text }
      }
      #expect(read.map { Array($0.utf8) } == Array(text.utf8))
    }
  }
}
