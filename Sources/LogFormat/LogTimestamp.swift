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
    var since1970 = time_t(seconds)
    var date = tm()
    gmtime_r(&since1970, &date)
    append(Int(date.tm_year) + 1900, digits: 4, to: &line)
    line.append(UInt8(ascii: "-"))
    append(Int(date.tm_mon) + 1, digits: 2, to: &line)
    line.append(UInt8(ascii: "-"))
    append(Int(date.tm_mday), digits: 2, to: &line)
    line.append(UInt8(ascii: "T"))
    append(Int(date.tm_hour), digits: 2, to: &line)
    line.append(UInt8(ascii: ":"))
    append(Int(date.tm_min), digits: 2, to: &line)
    line.append(UInt8(ascii: ":"))
    append(Int(date.tm_sec), digits: 2, to: &line)
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
}
