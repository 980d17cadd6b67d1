// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The bytes of an export that come piece by piece over a connection, and are dropped with it.
final class ImportUpload: Sendable {
  /// Bytes of an export of millions of items.
  static let limit = 4 << 30
  /// Hours from the first piece to the last. That none comes for ten seconds ends the connection.
  private static let timeout = Duration.seconds(3_600)

  let file: UnnamedFile
  private let limit: Int
  private let deadline: ContinuousClock.Instant
  private let length = Mutex(0)

  init(_ file: UnnamedFile, limit: Int = limit, within timeout: Duration = timeout) {
    self.file = file
    self.limit = limit
    deadline = .now + timeout
  }

  /// - Returns: bytes of all pieces so far.
  /// - Throws: `CommandFailure`. Only a new upload helps then.
  func add(_ piece: Data) throws -> Int {
    try length.withLock { length in
      guard ContinuousClock.now < deadline else {
        throw CommandFailure(.temporary, "the export came too slowly", remedy: "import again")
      }
      guard piece.count <= limit - length else {
        throw CommandFailure(.badInput, "an export has at most \(limit) bytes here")
      }
      do throws(KeychainError) {
        try file.append(piece)
      } catch {
        throw CommandFailure(exchanging: error)
      }
      length += piece.count
      return length
    }
  }
}
