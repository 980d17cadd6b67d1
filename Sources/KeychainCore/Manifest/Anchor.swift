// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The generation of a store, remembered outside of it: a text file of one line,
/// `generation 42`, at most 2^63 - 1. It is written after the commit, so a store is never older than its anchor
/// unless somebody put an old copy in its place.
struct Anchor {
  let path: String

  enum Found: Equatable {
    case missing
    case unreadable
    case generation(UInt64)
  }

  func read() -> Found {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { return errno == ENOENT ? .missing : .unreadable }
    defer { close(descriptor) }
    let text = withUnsafeTemporaryAllocation(byteCount: 128, alignment: 1) { memory in
      let count = Glibc.read(descriptor, memory.baseAddress, memory.count)
      return String(decoding: memory.prefix(max(count, 0)), as: UTF8.self)
    }
    let words = text.split(whereSeparator: \.isWhitespace)
    guard words.count == 2, words[0] == "generation", let generation = UInt64(words[1]),
      generation <= Manifest.lastGeneration
    else {
      return .unreadable
    }
    return .generation(generation)
  }

  /// Replaces the file as a whole: after a crash it is the old one or the new one.
  func write(_ generation: UInt64) throws(KeychainError) {
    let draft = path + ".new"
    let descriptor = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw .system("write the anchor", path: draft) }
    let words = Array("generation \(generation)\n".utf8)
    let isWritten =
      words.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) } == words.count
      && fdatasync(descriptor) == 0
    let code = errno
    close(descriptor)
    guard isWritten else { throw .system("write the anchor", path: draft, code: code) }
    guard rename(draft, path) == 0 else { throw .system("write the anchor", path: path) }
  }
}
