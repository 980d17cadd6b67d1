// SPDX-License-Identifier: Apache-2.0

/// Finds the place where bytes stop being JSON (RFC 8259), for whoever has to mend them: the parser
/// only says that they are not.
///
/// Goes down as deep as the bytes are nested, so that is limited before.
struct JSONSyntax {
  private struct Flaw: Error {}

  private let bytes: [UInt8]
  private var offset = 0

  /// Bytes from the start to the first one that cannot be there, or to the end where more must come;
  /// `nil` for sound JSON.
  static func firstFlaw(in bytes: [UInt8]) -> Int? {
    var syntax = JSONSyntax(bytes: bytes)
    do throws(Flaw) {
      try syntax.value()
      syntax.skipSpace()
      return syntax.offset == bytes.count ? nil : syntax.offset
    } catch {
      return syntax.offset
    }
  }

  private init(bytes: [UInt8]) {
    self.bytes = bytes
  }

  private var next: UInt8? { offset < bytes.count ? bytes[offset] : nil }

  private mutating func value() throws(Flaw) {
    skipSpace()
    switch next {
    case UInt8(ascii: "{"): try list(to: UInt8(ascii: "}"), named: true)
    case UInt8(ascii: "["): try list(to: UInt8(ascii: "]"), named: false)
    case UInt8(ascii: "\""): try text()
    case UInt8(ascii: "t"): try word("true")
    case UInt8(ascii: "f"): try word("false")
    case UInt8(ascii: "n"): try word("null")
    default: try number()
    }
  }

  /// An object, whose values have names, or an array.
  private mutating func list(to end: UInt8, named: Bool) throws(Flaw) {
    offset += 1
    skipSpace()
    if take(end) { return }
    while true {
      if named {
        skipSpace()
        try text()
        skipSpace()
        try need(":")
      }
      try value()
      skipSpace()
      if take(end) { return }
      try need(",")
    }
  }

  private mutating func text() throws(Flaw) {
    try need("\"")
    while let byte = next, byte >= 0x20 {
      offset += 1
      switch byte {
      case UInt8(ascii: "\""): return
      case UInt8(ascii: "\\"): try escape()
      default: break
      }
    }
    throw Flaw()
  }

  private mutating func escape() throws(Flaw) {
    guard let byte = next, "\"\\/bfnrtu".utf8.contains(byte) else { throw Flaw() }
    offset += 1
    guard byte == UInt8(ascii: "u") else { return }
    for _ in 0..<4 {
      guard let digit = next, Character(Unicode.Scalar(digit)).isHexDigit else { throw Flaw() }
      offset += 1
    }
  }

  private mutating func number() throws(Flaw) {
    _ = take(UInt8(ascii: "-"))
    if !take(UInt8(ascii: "0")) { try digits() }
    if take(UInt8(ascii: ".")) { try digits() }
    if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
      if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
      try digits()
    }
  }

  private mutating func digits() throws(Flaw) {
    guard let first = next, isDigit(first) else { throw Flaw() }
    while let byte = next, isDigit(byte) { offset += 1 }
  }

  private func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }

  private mutating func word(_ word: StaticString) throws(Flaw) {
    for index in 0..<word.utf8CodeUnitCount {
      guard take(word.utf8Start[index]) else { throw Flaw() }
    }
  }

  private mutating func need(_ character: Unicode.Scalar) throws(Flaw) {
    guard take(UInt8(ascii: character)) else { throw Flaw() }
  }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard next == byte else { return false }
    offset += 1
    return true
  }

  private mutating func skipSpace() {
    while let byte = next, " \t\n\r".utf8.contains(byte) { offset += 1 }
  }
}
