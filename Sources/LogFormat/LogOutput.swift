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
