// SPDX-License-Identifier: Apache-2.0

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

  /// Civil date from days, after the proleptic Gregorian calendar with years that begin in March.
  package var description: String {
    let seconds = milliseconds.flooredQuotient(by: 1000)
    let days = seconds.flooredQuotient(by: 86_400)
    let second = seconds - days * 86_400
    let shifted = days + 719_468
    let era = shifted.flooredQuotient(by: 146_097)
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    return "\(year.padded(4))-\(month.padded(2))-\(day.padded(2))"
      + "T\((second / 3600).padded(2)):\((second / 60 % 60).padded(2)):\((second % 60).padded(2))Z"
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

  fileprivate func padded(_ width: Int) -> String {
    let digits = String(self)
    return String(repeating: "0", count: Swift.max(0, width - digits.count)) + digits
  }
}
