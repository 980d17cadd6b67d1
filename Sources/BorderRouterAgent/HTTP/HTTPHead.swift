// SPDX-License-Identifier: Apache-2.0

/// The status and what the headers say of the body's length (RFC 9112, section 6.3).
struct HTTPHead {
  let status: Int
  private var length: Int?
  private var isChunked = false

  /// - Parameter bytes: up to the empty line.
  init(_ bytes: ArraySlice<UInt8>) throws(HTTPFailure) {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw .garbage("the head is not text")
    }
    // By scalars: to Swift CR LF is one character.
    let lines = text.unicodeScalars.split(
      separator: "\n", omittingEmptySubsequences: false
    ).map { String($0).trimmed }
    let words = lines[0].split(separator: " ", maxSplits: 2)
    guard words.count >= 2, words[0] == "HTTP/1.1" || words[0] == "HTTP/1.0", words[1].count == 3,
      words[1].utf8.allSatisfy({ $0 &- 0x30 < 10 }), let status = Int(words[1]),
      (100..<600).contains(status)
    else { throw .garbage("the answer is not HTTP") }
    self.status = status
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: ":") else {
        throw .garbage("a header has no colon")
      }
      try take(line[..<colon].lowercased(), String(line[line.index(after: colon)...]).trimmed)
    }
  }

  private mutating func take(_ name: String, _ value: String) throws(HTTPFailure) {
    switch name {
    case "content-length":
      guard !value.isEmpty, value.utf8.allSatisfy({ $0 &- 0x30 < 10 }), let number = Int(value),
        length == nil || length == number
      else { throw .garbage("Content-Length is no number") }
      guard number <= HTTPAnswer.bodyLimit else {
        throw .garbage("the body is longer than \(HTTPAnswer.bodyLimit) bytes")
      }
      length = number
    case "transfer-encoding":
      guard value.lowercased() == "chunked" else {
        throw .garbage("the transfer encoding is unknown")
      }
      isChunked = true
    default: break
    }
  }

  /// - Returns: nil while something is missing.
  func body(in rest: ArraySlice<UInt8>, isComplete: Bool) throws(HTTPFailure) -> [UInt8]? {
    if status == 204 || status == 304 { return [] }
    let body: [UInt8]?
    if isChunked {
      body = try Self.chunks(in: rest)
    } else if let length {
      body = rest.count >= length ? Array(rest.prefix(length)) : nil
    } else {
      guard rest.count <= HTTPAnswer.bodyLimit else {
        throw .garbage("the body is longer than \(HTTPAnswer.bodyLimit) bytes")
      }
      body = isComplete ? Array(rest) : nil
    }
    guard body != nil || !isComplete else { throw .garbage("the answer is cut off") }
    return body
  }

  /// RFC 9112, section 7.1. Extensions and trailers are skipped.
  private static func chunks(in bytes: ArraySlice<UInt8>) throws(HTTPFailure) -> [UInt8]? {
    var rest = bytes
    var body: [UInt8] = []
    while true {
      guard let end = rest.firstIndex(of: 0x0A) else {
        guard rest.count <= HTTPAnswer.headLimit else { throw .garbage("a chunk has no size") }
        return nil
      }
      let digits = rest[..<end].prefix { Character(Unicode.Scalar($0)).isHexDigit }
      guard (1...6).contains(digits.count),
        let size = Int(String(decoding: digits, as: UTF8.self), radix: 16)
      else { throw .garbage("a chunk has no size") }
      guard size > 0 else { return body }
      guard body.count + size <= HTTPAnswer.bodyLimit else {
        throw .garbage("the body is longer than \(HTTPAnswer.bodyLimit) bytes")
      }
      rest = rest[(end + 1)...]
      guard rest.count >= size + 2 else { return nil }
      body += rest.prefix(size)
      rest = rest.dropFirst(size)
      guard rest.starts(with: [0x0D, 0x0A]) else { throw .garbage("a chunk does not end") }
      rest = rest.dropFirst(2)
    }
  }
}

extension String {
  /// Without white space around it.
  fileprivate var trimmed: String {
    func isSpace(_ character: Character) -> Bool { character.isWhitespace }
    let start = drop(while: isSpace)
    guard let last = start.lastIndex(where: { !isSpace($0) }) else { return "" }
    return String(start[...last])
  }
}
