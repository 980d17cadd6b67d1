// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import KeychainCore
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Writes what a daemon sends of an export, on a thread of the system's. The daemon expects that each piece is taken
/// within ten seconds, so a disk that is slow at times holds up the reader only when `room` bytes wait in memory.
final class DraftWriter: Sendable {
  private struct State {
    var length = 0
    /// Bytes that are not written yet.
    var waiting = 0
    /// Of `append`, which waits for room.
    var appender: CheckedContinuation<Void, Never>?
    var failure: KeychainError?
  }

  /// 80 pieces.
  private static let room = 16 << 20

  private let path: String
  private let descriptor: Int32
  private let room: Int
  private let queue = DispatchQueue(label: "threadkeeper.draft")
  private let state = Mutex(State())

  /// - Parameters:
  ///   - draft: its descriptor, which stays the caller's.
  ///   - path: for messages.
  ///   - room: the most bytes that wait for the disk, beside the last piece.
  init(_ draft: Int32, path: String, room: Int = room) throws(KeychainError) {
    self.path = path
    self.room = room
    // It may be closed while a piece is still being written.
    descriptor = fcntl(draft, F_DUPFD_CLOEXEC, 0)
    guard descriptor >= 0 else { throw Self.failure(path) }
  }

  deinit { close(descriptor) }

  /// Waits for the disk when more than `room` bytes wait. One call at a time.
  ///
  /// - Throws: what was wrong with an earlier piece: `diskFull`, `io`.
  func append(_ bytes: Data) async throws {
    if let failure = state.withLock({ $0.failure }) { throw failure }
    state.withLock { $0.waiting += bytes.count }
    queue.async { [self] in
      var failure = state.withLock { $0.failure }
      if failure == nil {
        do throws(KeychainError) { try write(bytes) } catch { failure = error }
      }
      wrote(bytes.count, failure)
    }
    await withCheckedContinuation { appender in
      let isFull = state.withLock { state in
        guard state.waiting > room else { return false }
        state.appender = appender
        return true
      }
      if !isFull { appender.resume() }
    }
  }

  private func wrote(_ count: Int, _ failure: KeychainError?) {
    let appender = state.withLock { state in
      state.waiting -= count
      state.failure = failure
      if failure == nil { state.length += count }
      guard state.waiting <= room else { return nil as CheckedContinuation<Void, Never>? }
      defer { state.appender = nil }
      return state.appender
    }
    appender?.resume()
  }

  /// Returns when all of it is on the disk.
  ///
  /// - Returns: the bytes that were written.
  func finish() async throws -> Int {
    try await withCheckedThrowingContinuation { done in
      queue.async { [self] in
        done.resume(
          with: Result {
            if let failure = state.withLock({ $0.failure }) { throw failure }
            guard fsync(descriptor) == 0 else { throw Self.failure(path) }
            return state.withLock { $0.length }
          })
      }
    }
  }

  private func write(_ bytes: Data) throws(KeychainError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw Self.failure(path) }
      rest = rest.dropFirst(count)
    }
  }

  private static func failure(_ path: String) -> KeychainError {
    let code = errno
    return KeychainError(
      code == ENOSPC || code == EDQUOT ? .diskFull : .io,
      "can't write \(path): \(String(cString: strerror(code)))")
  }
}
