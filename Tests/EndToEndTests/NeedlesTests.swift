// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing

@Suite("The search for secrets")
struct NeedlesTests {
  static let key: [UInt8] = [
    0xFB, 0xEF, 0xBE, 0x00, 0x5C, 0x1F, 0xB2, 0x54, 0x3E, 0xA9, 0x71, 0xD6, 0xFF, 0xFB, 0x45, 0x9C,
  ]

  /// The key in the middle of something else, in one of the ways to write bytes.
  enum Form: Sendable, CaseIterable {
    case raw, hex, upperHex, mixedHex, base64, webBase64, escapedBase64

    func text(_ bytes: [UInt8]) -> Data {
      let hex = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
      let base64 = Data(bytes).base64EncodedString()
      return switch self {
      case .raw: Data(bytes)
      case .hex: Data(hex.utf8)
      case .upperHex: Data(hex.uppercased().utf8)
      case .mixedHex:
        Data(String(hex.enumerated().map { $0 % 3 == 0 ? Character($1.uppercased()) : $1 }).utf8)
      case .base64: Data(base64.utf8)
      case .webBase64:
        Data(base64.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 }.map(String.init).joined().utf8)
      case .escapedBase64: Data(base64.replacingOccurrences(of: "/", with: "\\/").utf8)
      }
    }
  }

  @Test(
    "A key is found in every encoding, wherever it begins, and so is each half of it in bytes and hex",
    arguments: Form.allCases)
  func encodings(_ form: Form) {
    var needles = Needles()
    needles.note("key", Self.key)
    var generator = SeededGenerator(seed: 7)
    for shift in 0..<7 {
      let noise = (0..<40).map { _ in UInt8.random(in: 0...255, using: &generator) }
      let planted = noise.prefix(shift) + Self.key + noise.suffix(9)
      let texts = [form.text(noise), form.text(Array(planted)), form.text(noise)]
      #expect(needles.found(inAll: texts).map(\.place) == [1], "\(form) at \(shift)")
    }
    guard [.raw, .hex, .upperHex, .mixedHex].contains(form) else { return }
    for half in [Self.key.prefix(8), Self.key.suffix(8)] {
      #expect(needles.found(inAll: [form.text(Array(half))]).count == 1)
    }
  }

  @Test("A password is found as it is, and encoded", arguments: Form.allCases)
  func password(_ form: Form) {
    var needles = Needles()
    needles.note("password", "Sesame-9c1d-right")
    let text = form.text(Array(#"{"password":"Sesame-9c1d-right"}"#.utf8))
    #expect(needles.found(inAll: [Data("Sesame".utf8), text]).map(\.place) == [1])
  }

  @Test("What stands in documentation, and what is noted twice, is no needle of its own")
  func noNeedles() {
    var needles = Needles()
    needles.note("zeros", [UInt8](repeating: 0, count: 16))
    needles.note("documented", Array(stride(from: 0, to: 256, by: 17)).map(UInt8.init))
    needles.note("short", "home")
    #expect(needles.all.isEmpty)
    needles.note("key", Self.key)
    let count = needles.all.count
    needles.note("the same", Self.key)
    #expect(count > 0 && needles.all.count == count)
  }
}
