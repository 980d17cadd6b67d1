// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Bytes as hexadecimal text, which is how border routers and people write them.
enum Hex {
  struct NotHex: LocalizedError { var errorDescription: String? { "expected hexadecimal digits, two for each byte" } }

  /// Space around it does not count.
  static func data(_ text: String) throws -> Data {
    let digits = text.filter { !$0.isWhitespace }.compactMap(\.hexDigitValue)
    guard digits.count == text.filter({ !$0.isWhitespace }).count, digits.count.isMultiple(of: 2) else {
      throw NotHex()
    }
    return Data(stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) })
  }

  static func text(_ data: Data) -> String { data.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
}
