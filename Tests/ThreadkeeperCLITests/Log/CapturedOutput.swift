// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import ThreadkeeperCLI

/// A log output whose lines can be read back: a file without a name.
final class CapturedOutput: Sendable {
  let output: LogOutput
  private let descriptor: Int32

  init() throws {
    var template = Array((NSTemporaryDirectory() + "/telemetry-XXXXXX").utf8CString)
    let descriptor = mkstemp(&template)
    try #require(descriptor >= 0, "no temporary file")
    unlink(template)
    self.descriptor = descriptor
    output = LogOutput(descriptor: descriptor)
  }

  deinit {
    close(descriptor)
  }

  var text: String {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = pread(descriptor, &chunk, chunk.count, off_t(bytes.count))
      guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
      bytes += chunk[..<count]
    }
  }

  /// The lines as a reader would count them: every line feed ends one.
  var lines: [String] {
    text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
  }
}
