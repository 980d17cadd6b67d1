// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit

/// A file that nobody can write, not even who has it open: with the attribute "immutable".
final class FrozenFile: Sendable {
  private let path: String

  /// Whether this user, on the file system of temporary files, can do it.
  static let isPossible: Bool = {
    guard let directory = try? TemporaryDirectory() else { return false }
    let path = directory.file("probe")
    guard FileManager.default.createFile(atPath: path, contents: nil) else { return false }
    let descriptor = open(path, O_WRONLY)
    defer { close(descriptor) }
    guard let frozen = try? FrozenFile(path) else { return false }
    let isFrozen = write(descriptor, "x", 1) < 0
    try? frozen.thaw()
    return isFrozen
  }()

  init(_ path: String) throws {
    self.path = path
    try Program.check("chattr", ["+i", path])
  }

  deinit { try? thaw() }

  func thaw() throws { try Program.check("chattr", ["-i", path]) }
}
