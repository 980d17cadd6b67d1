// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ServiceDiscovery

struct CheckedTextTests {
  private func text(_ bytes: [UInt8], limit: Int = 63) -> String? {
    (bytes.map { CChar(bitPattern: $0) } + [0]).withUnsafeBufferPointer {
      CheckedText.text($0.baseAddress, limit: limit)
    }
  }

  @Test(
    "A name that can be shown is taken",
    arguments: ["router", "Küche – Router #2", "ⴰ\u{200D}ⴱ", "👨‍👩‍👧 Room", "a.b\\c"])
  func harmless(_ name: String) {
    #expect(text(Array(name.utf8)) == name)
  }

  @Test(
    "A name that changes how a terminal shows it is refused",
    arguments: [
      "a\u{1B}[2J", "a\nb", "a\u{7F}", "a\u{9B}b", "a\u{202E}b", "a\u{2066}b", "a\u{2028}b",
    ])
  func harmful(_ name: String) {
    #expect(text(Array(name.utf8)) == nil)
  }

  @Test("Bytes that are no UTF-8 are refused", arguments: [[0xFF], [0xC3], [0xED, 0xA0, 0x80]])
  func invalid(_ bytes: [UInt8]) {
    #expect(text([0x61] + bytes) == nil)
  }

  @Test("A name is refused when it is empty, missing, or longer than the limit")
  func length() {
    #expect(text([]) == nil)
    #expect(CheckedText.text(nil, limit: 63) == nil)
    #expect(text([UInt8](repeating: 0x61, count: 63)) != nil)
    #expect(text([UInt8](repeating: 0x61, count: 64)) == nil)
  }
}
