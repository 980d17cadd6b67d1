// SPDX-License-Identifier: Apache-2.0

import Glibc
import Settings

/// When the last backup was made: a file beside the store with the seconds since 1970 in it. For people who ask, so
/// nothing fails where it cannot be written, and it proves nothing.
package enum BackupNote {
  private static func path(_ settings: Settings) -> String {
    settings.store.path + ".last-backup"
  }

  /// Notes one that was made now.
  package static func write(_ settings: Settings) {
    let descriptor = open(
      path(settings), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return }
    let text = Array("\(time(nil))\n".utf8)
    _ = Glibc.write(descriptor, text, text.count)
    close(descriptor)
  }

  /// Seconds since 1970; nil where none is noted.
  package static func read(_ settings: Settings) -> Int64? {
    let descriptor = open(path(settings), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 32)
    let count = Glibc.read(descriptor, &bytes, bytes.count)
    return Int64(String(decoding: bytes.prefix(max(0, count)).prefix { $0 != 0x0A }, as: UTF8.self))
  }
}
