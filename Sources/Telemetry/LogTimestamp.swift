// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A moment in UTC, written as ISO 8601 with milliseconds: `2026-11-21T04:36:00.123Z`.
///
/// A formatter of Foundation would cost more than the rest of the line together.
package struct LogTimestamp: Sendable, Equatable {
  /// Seconds since 1970-01-01T00:00:00Z.
  package let seconds: Int
  /// 0…999.
  package let milliseconds: Int

  package init(seconds: Int, milliseconds: Int) {
    self.seconds = seconds
    self.milliseconds = milliseconds
  }

  package static func now() -> LogTimestamp {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return LogTimestamp(seconds: Int(time.tv_sec), milliseconds: Int(time.tv_nsec) / 1_000_000)
  }

  func append(to line: inout [UInt8]) {
    let secondsInDay = 86_400
    // Never negative, so that a clock before 1970 still gives a true date.
    let second = (seconds % secondsInDay + secondsInDay) % secondsInDay
    let (year, month, day) = Self.civilDate(daysSince1970: (seconds - second) / secondsInDay)
    append(year, digits: 4, to: &line)
    line.append(UInt8(ascii: "-"))
    append(month, digits: 2, to: &line)
    line.append(UInt8(ascii: "-"))
    append(day, digits: 2, to: &line)
    line.append(UInt8(ascii: "T"))
    append(second / 3600, digits: 2, to: &line)
    line.append(UInt8(ascii: ":"))
    append(second / 60 % 60, digits: 2, to: &line)
    line.append(UInt8(ascii: ":"))
    append(second % 60, digits: 2, to: &line)
    line.append(UInt8(ascii: "."))
    append(milliseconds, digits: 3, to: &line)
    line.append(UInt8(ascii: "Z"))
  }

  private func append(_ number: Int, digits: Int, to line: inout [UInt8]) {
    var divisor = 1
    for _ in 1..<digits { divisor *= 10 }
    while divisor > 0 {
      line.append(UInt8(ascii: "0") + UInt8(number / divisor % 10))
      divisor /= 10
    }
  }

  /// The Gregorian date of a day. Years are counted from March, so that the leap day is a
  /// year's last day, and in eras of 400 years, which all have 146,097 days. From year 0 on.
  private static func civilDate(daysSince1970: Int) -> (year: Int, month: Int, day: Int) {
    let daysSinceMarchOfYear0 = daysSince1970 + 719_468
    let era = daysSinceMarchOfYear0 / 146_097
    let dayOfEra = daysSinceMarchOfYear0 - era * 146_097
    let leapDays = dayOfEra / 1_460 - dayOfEra / 36_524 + dayOfEra / 146_096
    let yearOfEra = (dayOfEra - leapDays) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    // Months from March have 153 days in every five.
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    return (era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month, day)
  }
}
