// SPDX-License-Identifier: Apache-2.0

import YAMLReader

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Why a file could not be read, in words that follow its name.
struct FileFailure: Error {
  let reason: String
  /// The place inside the file, when the reason has one.
  let position: TextPosition?
  /// Whether the system knows the file and denies it to this user.
  let isRefusal: Bool

  init(reason: String, position: TextPosition? = nil) {
    self.reason = reason
    self.position = position
    isRefusal = false
  }

  /// - Parameter code: the system's `errno`.
  init(_ code: Int32) {
    reason = "cannot be read: \(String(cString: strerror(code)))"
    position = nil
    isRefusal = code == EACCES
  }
}
