// SPDX-License-Identifier: Apache-2.0

import Glibc
import Settings

/// When the last backup was made: a file beside the store with the seconds since 1970 in it. For people who ask, so
/// nothing fails where it cannot be written, and it proves nothing.
package enum BackupNote {
  private static func path(_ settings: Settings) -> String {
    settings.store.path + ".last-backup"
  }

  /// Notes one that was made now, and is in its place. The file is the store's owner's, also where root writes it.
  package static func write(_ settings: Settings) {
    let descriptor = open(
      path(settings), O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    var (file, store) = (stat(), stat())
    // The owner could have put another file's second name here, for root to write to.
    guard fstat(descriptor, &file) == 0, file.st_mode & S_IFMT == S_IFREG, file.st_nlink == 1,
      stat(settings.store.path, &store) == 0,
      file.st_uid == store.st_uid || fchown(descriptor, store.st_uid, store.st_gid) == 0,
      ftruncate(descriptor, 0) == 0
    else { return }
    let text = Array("\(time(nil))\n".utf8)
    _ = Glibc.write(descriptor, text, text.count)
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
