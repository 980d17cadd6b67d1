// SPDX-License-Identifier: Apache-2.0

import Broker
import Testing

@Suite("JSON on the wire")
struct WireJSONTests {
  private func text(_ value: some Encodable) -> String {
    String(decoding: WireJSON().encode(value), as: UTF8.self)
  }

  @Test("Equal values are equal bytes, in whatever order they were made")
  func deterministic() {
    let keys = (0..<200).map { "key-\($0)" }
    var forward: [String: Int] = [:]
    var backward: [String: Int] = [:]
    for (index, key) in keys.enumerated() { forward[key] = index }
    for (index, key) in keys.enumerated().reversed() { backward[key] = index }
    let encoder = WireJSON()
    let first = encoder.encode(forward)
    #expect(encoder.encode(backward) == first)
    #expect(encoder.encode(forward) == first)
    #expect(WireJSON().encode(backward) == first)
  }

  @Test("Keys are sorted, slashes are left alone, and there is no white space")
  func form() {
    #expect(text(["b": "x/y", "a": "1", "B": "2"]) == #"{"B":"2","a":"1","b":"x/y"}"#)
  }

  @Test("Texts from outside are escaped")
  func escaping() {
    let encoded = text(["ssid": "a\"b\\c\n\u{0}\u{1F}\u{7F}é👩‍🚒"])
    #expect(encoded.utf8.allSatisfy { $0 >= 0x20 })
    #expect(encoded.contains(#"a\"b\\c\n\u0000\u001"#))
    #expect(encoded.contains("é👩‍🚒"))
  }
}
