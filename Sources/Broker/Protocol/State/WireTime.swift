// SPDX-License-Identifier: Apache-2.0

import Glibc
import Home
import ThreadkeeperSupport

/// Written as RFC 3339 in UTC.
extension WireTime: Codable, CustomStringConvertible {
  package var description: String {
    var seconds = time_t(milliseconds.flooredQuotient(by: 1000))
    var date = tm()
    gmtime_r(&seconds, &date)
    return "\((Int(date.tm_year) + 1900).padded(4))-\((date.tm_mon + 1).padded(2))"
      + "-\(date.tm_mday.padded(2))T\(date.tm_hour.padded(2)):\(date.tm_min.padded(2))"
      + ":\(date.tm_sec.padded(2))Z"
  }

  /// - Throws: `DecodingError` for anything but what `description` gives.
  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    guard let time = WireTime(text) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "no time")
    }
    self = time
  }

  /// - Returns: nil for anything but what `description` gives of the years 0 to 9999.
  private init?(_ text: String) {
    guard text.utf8.count == 20 else { return nil }
    let numbers = text.split { "-T:Z".contains($0) }.compactMap { Int32($0) }
    guard numbers.count == 6, numbers.allSatisfy({ 0...9999 ~= $0 }) else { return nil }
    var date = tm()
    (date.tm_year, date.tm_mon, date.tm_mday) = (numbers[0] - 1900, numbers[1] - 1, numbers[2])
    (date.tm_hour, date.tm_min, date.tm_sec) = (numbers[3], numbers[4], numbers[5])
    self.init(milliseconds: Int64(timegm(&date)) * 1000)
    // timegm(3) takes February 30 as a day of March.
    guard description == text else { return nil }
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}

extension Int64 {
  fileprivate func flooredQuotient(by divisor: Int64) -> Int64 {
    let quotient = self / divisor
    return self % divisor < 0 ? quotient - 1 : quotient
  }
}

extension FixedWidthInteger {
  fileprivate func padded(_ width: Int) -> String {
    let digits = String(self)
    return String(repeating: "0", count: Swift.max(0, width - digits.count)) + digits
  }
}

/// How values become the JSON that is published: keys sorted, so that equal values are equal bytes.
package struct WireJSON: Sendable {
  package init() {}

  package func encode(_ value: some Encodable) -> [UInt8] {
    // Every published type holds texts, whole numbers and booleans only, for which encoding is total.
    (try? JSONWriter.bytes(of: value)) ?? Array("{}".utf8)
  }
}
