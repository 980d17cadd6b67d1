// SPDX-License-Identifier: Apache-2.0

import Broker
import Glibc
import ThreadDataset
import ThreadkeeperSupport

/// On which routers this agent has disabled Thread for an adoption. When it dies before it has enabled Thread again,
/// its next run does that.
///
/// A file without content for each: it is there whole, or not at all.
package struct AdoptionNotes: Sendable {
  private let path: String

  /// - Parameter path: with which the paths of the files begin; the id of a router follows.
  package init(path: String) { self.path = path }

  func contains(_ agent: BorderAgentID) -> Bool { access(file(agent), F_OK) == 0 }

  /// - Returns: nil when it is on the disk; else why not.
  func add(_ agent: BorderAgentID) -> String? {
    let descriptor = open(file(agent), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { return String(cString: strerror(errno)) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { return String(cString: strerror(errno)) }
    FilePath.syncDirectory(FilePath.directory(of: path))
    return nil
  }

  func remove(_ agent: BorderAgentID) {
    if unlink(file(agent)) == 0 { FilePath.syncDirectory(FilePath.directory(of: path)) }
  }

  private func file(_ agent: BorderAgentID) -> String { "\(path)-\(agent)" }
}
