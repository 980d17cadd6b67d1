// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Milliseconds since 1970-01-01T00:00:00Z, written as RFC 3339 in UTC.
package struct WireTime: Hashable, Comparable, Sendable, Encodable, CustomStringConvertible {
  package let milliseconds: Int64

  package init(milliseconds: Int64) {
    self.milliseconds = milliseconds
  }

  package static func < (a: WireTime, b: WireTime) -> Bool { a.milliseconds < b.milliseconds }

  package func adding(seconds: Int) -> WireTime {
    WireTime(milliseconds: milliseconds + Int64(seconds) * 1000)
  }

  package var description: String {
    var seconds = time_t(milliseconds.flooredQuotient(by: 1000))
    var date = tm()
    gmtime_r(&seconds, &date)
    return "\((Int(date.tm_year) + 1900).padded(4))-\((date.tm_mon + 1).padded(2))"
      + "-\(date.tm_mday.padded(2))T\(date.tm_hour.padded(2)):\(date.tm_min.padded(2))"
      + ":\(date.tm_sec.padded(2))Z"
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
