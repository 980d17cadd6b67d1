// SPDX-License-Identifier: Apache-2.0

/// An answer of HTTP/1.1, and how it is read from untrusted bytes (RFC 9112).
///
/// ```
/// HTTP/1.1 200 OK\r\n                     the status
/// Content-Length: 34\r\n                  or Transfer-Encoding: chunked, or until the connection ends
/// \r\n
/// "8facafc7a82f06fcc1c5920216206f30"      the body, at most 64 KiB
/// ```
package struct HTTPAnswer: Equatable, Sendable {
  /// 200 to 599.
  package var status: Int
  package var body: [UInt8]

  /// Bytes; real answers have less than two thousand.
  package static let bodyLimit = 64 << 10
  /// Bytes of the status line and all headers.
  package static let headLimit = 16 << 10
  /// Bytes of all that may come, with the frames of a chunked body.
  static let limit = 2 * bodyLimit + headLimit

  package init(status: Int, body: [UInt8] = []) {
    self.status = status
    self.body = body
  }

  /// Reads an answer from what has come so far.
  ///
  /// - Parameter isComplete: nothing more will come.
  /// - Returns: nil while something is missing.
  /// - Throws: `garbage`.
  package static func read(
    _ bytes: [UInt8], isComplete: Bool
  ) throws(HTTPFailure) -> HTTPAnswer? {
    var rest = bytes[...]
    while true {
      guard let end = rest.firstRange(of: Array("\r\n\r\n".utf8)) else {
        guard !isComplete else { throw .garbage("the answer is cut off in its head") }
        guard rest.count <= headLimit else { throw .garbage("the head is too long") }
        guard startsLikeHTTP(rest) else { throw .garbage("the answer is not HTTP") }
        return nil
      }
      guard end.lowerBound - rest.startIndex <= headLimit else {
        throw .garbage("the head is too long")
      }
      let head = try HTTPHead(rest[..<end.lowerBound])
      rest = rest[end.upperBound...]
      // 1xx is followed by another answer; nothing here asks for 101.
      guard head.status >= 200 else { continue }
      return try head.body(in: rest, isComplete: isComplete).map {
        HTTPAnswer(status: head.status, body: $0)
      }
    }
  }

  private static func startsLikeHTTP(_ bytes: ArraySlice<UInt8>) -> Bool {
    zip(bytes, "HTTP/1.".utf8).allSatisfy { $0 == $1 }
  }
}

extension HTTPAnswer: CustomStringConvertible {
  /// Without the body, which may be a dataset with its key.
  package var description: String { "status \(status), \(body.count) bytes" }
}
