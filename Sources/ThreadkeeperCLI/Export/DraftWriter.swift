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

/// Writes what a daemon sends of an export, on a thread of the system's. A slow disk holds up this writer and not the
/// reader, of whom the daemon expects that it takes each piece in ten seconds: what waits is in memory meanwhile.
final class DraftWriter: Sendable {
  private struct State {
    var length = 0
    var failure: KeychainError?
  }

  private let path: String
  private let descriptor: Int32
  private let queue = DispatchQueue(label: "threadkeeper.draft")
  private let state = Mutex(State())

  /// - Parameters:
  ///   - draft: its descriptor, which stays the caller's.
  ///   - path: for messages.
  init(_ draft: Int32, path: String) throws(KeychainError) {
    self.path = path
    // It may be closed while a piece is still being written.
    descriptor = fcntl(draft, F_DUPFD_CLOEXEC, 0)
    guard descriptor >= 0 else { throw Self.failure(path) }
  }

  deinit { close(descriptor) }

  /// Does not wait for the disk.
  ///
  /// - Throws: what was wrong with an earlier piece: `diskFull`, `io`.
  func append(_ bytes: Data) throws {
    if let failure = state.withLock({ $0.failure }) { throw failure }
    queue.async { [self] in
      guard state.withLock({ $0.failure == nil }) else { return }
      do throws(KeychainError) {
        try write(bytes)
        state.withLock { $0.length += bytes.count }
      } catch {
        state.withLock { $0.failure = error }
      }
    }
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
