// SPDX-License-Identifier: Apache-2.0

import Logging
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Where log lines go: a file descriptor that takes one whole line at a time.
///
/// A line leaves in a single `write` where the kernel allows it, and two threads never mix
/// their lines. The descriptor is not closed: it belongs to whoever opened it.
package final class LogOutput: Sendable {
  package static let standardError = LogOutput(descriptor: STDERR_FILENO)

  /// True on a terminal that wants colour: not `NO_COLOR`, not `TERM=dumb`.
  package let allowsColor: Bool

  private let descriptor: Int32
  /// True while the last line broke off: the next one then starts on a line of its own.
  private let brokenOff = Mutex(false)

  /// - Parameters:
  ///   - noColor: value of `NO_COLOR` (https://no-color.org): any but an empty one asks for none.
  ///   - terminal: value of `TERM`.
  package init(
    descriptor: Int32, noColor: String? = variable("NO_COLOR"),
    terminal: String? = variable("TERM")
  ) {
    self.descriptor = descriptor
    allowsColor =
      (noColor ?? "").isEmpty && (terminal ?? "dumb") != "dumb" && isatty(descriptor) == 1
  }

  package static func variable(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }
  }

  /// Writes one line. Its end (a line feed) must be there, and no other.
  package func write(line: [UInt8]) {
    brokenOff.withLock { brokenOff in
      if brokenOff {
        guard writeAll([UInt8(ascii: "\n")]) == 1 else { return }
        brokenOff = false
      }
      let written = writeAll(line)
      brokenOff = written > 0 && written < line.count
    }
  }

  /// Gives up on an error, and on a reader who takes nothing for a second: a log must not
  /// stop the service.
  private func writeAll(_ bytes: [UInt8]) -> Int {
    bytes.withUnsafeBytes { buffer in
      var sent = 0
      while sent < buffer.count {
        let rest = UnsafeRawBufferPointer(rebasing: buffer[sent...])
        #if canImport(Glibc)
          let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
        #elseif canImport(Musl)
          let count = Musl.write(descriptor, rest.baseAddress, rest.count)
        #else
          let count = Darwin.write(descriptor, rest.baseAddress, rest.count)
        #endif
        if count > 0 {
          sent += count
        } else if count < 0, errno == EAGAIN {
          var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
          guard poll(&ready, 1, 1_000) > 0 else { return sent }
        } else if count < 0, errno == EINTR {
          continue
        } else {
          return sent
        }
      }
      return sent
    }
  }
}

extension LogEvent {
  typealias Field = (key: String, value: Logger.MetadataValue)

  /// What is said beside the message, in the order of the keys: the logger's own, what the
  /// task provides, and the event's, the later winning. An error comes as `error`.
  func fields(
    logger: Logger.Metadata, provider: Logger.MetadataProvider?
  ) -> [Field] {
    var merged = logger
    if let provided = provider?.get() {
      merged.merge(provided) { _, new in new }
    }
    if let error, merged["error"] == nil {
      merged["error"] = "\(error)"
    }
    if let metadata {
      merged.merge(metadata) { _, new in new }
    }
    return merged.sorted { $0.key < $1.key }
  }
}

/// Text from outside, made harmless for one line of a log.
///
/// Whoever publishes on the broker chooses topic and router names. None of them may end the
/// line, move a terminal's cursor or turn the direction of the text: such a scalar is written
/// as JSON would write it, `\n` or `\u009b`. So is a backslash, which keeps the way back plain.
/// Long text is cut, and the line says how much is missing.
struct EscapedText {
  /// Bytes of UTF-8 that one value may take before it is cut: longer than any topic in use
  /// here, short enough that a flood of 64 KiB topics does not fill a disk.
  static let longest = 4_096

  let text: String

  init(_ text: String) {
    self.text = text
  }

  /// True when nothing needs an escape, a quote or a cut.
  var isPlain: Bool {
    text.utf8.count <= Self.longest
      && text.utf8.allSatisfy { byte in
        byte >= 0x20 && byte < 0x7F && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
      }
  }

  /// - Parameter quoted: whether the text stands inside quotation marks, which it then may
  ///   not end.
  func append(to line: inout [UInt8], quoted: Bool) {
    if isPlain {
      line.append(contentsOf: text.utf8)
      return
    }
    let end = line.count + Self.longest
    var taken = 0
    for scalar in text.unicodeScalars {
      if line.count >= end {
        line.append(contentsOf: "…(+\(text.utf8.count - taken) bytes)".utf8)
        return
      }
      taken += UTF8.width(scalar)
      switch scalar {
      case "\n": line.append(contentsOf: #"\n"#.utf8)
      case "\r": line.append(contentsOf: #"\r"#.utf8)
      case "\t": line.append(contentsOf: #"\t"#.utf8)
      case "\\": line.append(contentsOf: #"\\"#.utf8)
      case "\"" where quoted: line.append(contentsOf: #"\""#.utf8)
      case _ where Self.isUnsafe(scalar): Self.appendHexadecimal(scalar, to: &line)
      default: line.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
      }
    }
  }

  /// Control characters, line and paragraph separators, marks that reverse the reading
  /// direction, and the invisible byte order mark. All lie below U+10000.
  private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x00...0x1F, 0x7F...0x9F: true
    case 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF: true
    default: false
    }
  }

  private static func appendHexadecimal(_ scalar: Unicode.Scalar, to line: inout [UInt8]) {
    line.append(contentsOf: #"\u"#.utf8)
    for shift in [12, 8, 4, 0] {
      let digit = UInt8(scalar.value >> UInt32(shift) & 0xF)
      line.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
    }
  }
}

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
