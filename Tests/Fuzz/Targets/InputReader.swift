/// Takes an input apart: the first bytes decide, what follows is data. Past the end it reads zeros.
struct InputReader {
  private var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { rest = bytes[...] }

  var isAtEnd: Bool { rest.isEmpty }

  mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

  mutating func bytes(_ count: Int) -> [UInt8] {
    let taken = Array(rest.prefix(count))
    rest = rest.dropFirst(count)
    return taken
  }

  /// A length byte, and so many bytes, or as many as are left.
  mutating func counted() -> [UInt8] { bytes(Int(byte())) }

  mutating func text() -> String { String(decoding: counted(), as: UTF8.self) }

  /// Up to the next line end, without it.
  mutating func line() -> [UInt8] {
    let line = rest.prefix { $0 != UInt8(ascii: "\n") }
    rest = rest.dropFirst(line.count + 1)
    return Array(line)
  }

  mutating func remainder() -> [UInt8] { bytes(rest.count) }

  mutating func pick<Choice>(_ choices: [Choice]) -> Choice { choices[Int(byte()) % choices.count] }
}
