// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Why a source says nothing about the SSID. Repeats nothing of what was read, which may hold a Wi-Fi password.
package enum SSIDTrouble: Error, Equatable, Sendable, CustomStringConvertible {
  /// More bytes than an SSID has.
  case tooLong(Int)
  case notFound(tool: String)
  /// Starting the program failed, with this `errno`.
  case cannotStart(tool: String, code: Int32)
  case timeout(tool: String, seconds: Int64)
  case tooMuchOutput(tool: String)
  case ended(tool: String, status: Int32)
  case killed(tool: String, signal: Int32)
  case unreadable(file: String, code: Int32)
  case notAFile(String)
  case noSuchBSS(String, file: String)
  case malformed(tool: String)

  package var description: String {
    switch self {
    case .tooLong(let count):
      "\(count) bytes are no SSID, which has at most \(SSID.mostBytes)"
    case .notFound(let tool): "\(tool) is not installed"
    case .cannotStart(let tool, let code): "\(tool) can't be started: \(Self.message(code))"
    case .timeout(let tool, let seconds): "\(tool) has not ended within \(seconds) s"
    case .tooMuchOutput(let tool): "\(tool) prints too much"
    case .ended(let tool, let status): "\(tool) ended with \(status)\(Self.hint(tool, status))"
    case .killed(let tool, let signal): "\(tool) was ended by signal \(signal)"
    case .unreadable(let file, let code): "can't read \(file): \(Self.message(code))"
    case .notAFile(let file):
      "\(file) is not a file, or has more than \(HostapdFile.mostBytes) bytes"
    case .noSuchBSS(let name, let file): "there is no BSS \(name) in \(file)"
    case .malformed(let tool): "what \(tool) prints can't be understood"
    }
  }

  /// For the log, where what a program has written to standard error is not shown.
  var logText: String {
    if case .ended = self {
      "\(self); run this with --dry-run to see what it writes"
    } else {
      "\(self)"
    }
  }

  private static func message(_ code: Int32) -> String { String(cString: strerror(code)) }

  /// nmcli(1), EXIT STATUS; iw ends with the negative errno.
  private static func hint(_ tool: String, _ status: Int32) -> String {
    switch (tool, status) {
    case ("nmcli", 8): ": NetworkManager is not running"
    case ("nmcli", 10), ("iw", 237): ": there is no such interface"
    case ("nmcli", 2): ": it does not know an option; it must be 1.16 or newer"
    default: ""
    }
  }
}
