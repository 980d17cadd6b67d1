// SPDX-License-Identifier: Apache-2.0

import Glibc

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A file below `/proc`. The kernel gives a page of it at a time, which Foundation takes for all of it.
package enum KernelFile {
  /// - Returns: all of it; what is not UTF-8 becomes replacement characters.
  /// - Throws: why it can't be opened or read.
  package static func text(_ path: String) throws -> String {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EINVAL) }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var page = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let count = read(descriptor, &page, page.count)
      guard count >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
      guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
      bytes += page.prefix(count)
    }
  }
}
