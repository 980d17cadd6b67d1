// SPDX-License-Identifier: Apache-2.0

/// Splits the bytes of one direction of a connection into messages (varlink.org):
///
/// ```
/// ┌──────────────────────────────┬──────┬──────────────────────────────┬──────┐
/// │ {"method":"org.example.Get"} │ 0x00 │ {"method":"org.example.Put", │ 0x00 │ …
/// │                              │      │  "parameters":{"id":7}}      │      │
/// └──────────────────────────────┴──────┴──────────────────────────────┴──────┘
///   one JSON object, UTF-8, at      1     the next one
///   most `limit` bytes
///
/// call    {"method": string, "parameters"?: object, "more"?: bool, "oneway"?: bool, "upgrade"?: bool}
/// reply   {"parameters"?: object, "continues"?: bool}
/// error   {"error": string, "parameters"?: object}
/// ```
package struct VarlinkFrames: Sendable {
  /// The most bytes of one message, without the one that ends it.
  package let limit: Int
  private var bytes: [UInt8] = []
  /// How many of them are known not to end a message.
  private var searched = 0

  package init(limit: Int) { self.limit = limit }

  package mutating func append(_ part: some Sequence<UInt8>) { bytes += part }

  /// Takes the oldest message, without the byte that ends it.
  ///
  /// - Returns: nil until all of it has come.
  /// - Throws: `tooLarge`. What follows cannot be read any more.
  package mutating func next() throws(SocketError) -> [UInt8]? {
    guard let end = bytes[searched...].firstIndex(of: 0) else {
      searched = bytes.count
      guard bytes.count <= limit else { throw Self.tooLarge(limit) }
      return nil
    }
    guard end <= limit else { throw Self.tooLarge(limit) }
    defer {
      // Not the same memory: a message may have had a secret, and the connection may stay.
      bytes = Array(bytes[(end + 1)...])
      searched = 0
    }
    return Array(bytes[..<end])
  }

  static func tooLarge(_ limit: Int) -> SocketError {
    SocketError(.tooLarge, "a message has more than \(limit) bytes")
  }
}
