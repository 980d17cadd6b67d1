// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit

/// A library of `Doubles` to be preloaded into programs. Needs a C compiler.
struct PreloadedLibrary: Sendable {
  private let directory: TemporaryDirectory
  let path: String

  /// - Returns: nil where it cannot be compiled.
  init?(_ name: String) {
    let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../../Doubles/\(name).c").standardized.path
    guard let directory = try? TemporaryDirectory() else { return nil }
    self.directory = directory
    path = directory.file("\(name).so")
    let arguments = ["-shared", "-fPIC", "-o", path, source, "-ldl"]
    let isMade = ["cc", "clang", "gcc"].contains { compiler in
      (try? Program.run(compiler, arguments))?.status == 0
    }
    if !isMade { return nil }
  }
}

/// A disk under a daemon's store that fails while it is told to: `Doubles/failing_files.c`, preloaded into the
/// daemon and the commands. Needs neither root nor a file system of its own.
final class FailingFiles: Sendable {
  enum Fault: String, CaseIterable, Sendable {
    /// Every read fails.
    case reads
    /// Every write and sync fails.
    case writes
    /// The file system has become read-only.
    case readOnly = "readonly"
  }

  private static let library = PreloadedLibrary("failing_files")

  static var isPossible: Bool { library != nil }

  private let directory: TemporaryDirectory
  /// Where the store is to lie.
  let storePath: String
  /// What the daemon and the commands need in their environment.
  let variables: [String: String]

  init() throws {
    directory = try TemporaryDirectory()
    storePath = directory.file("disk/store")
    try FileManager.default.createDirectory(
      atPath: directory.file("disk"), withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
    // As the kernel has it.
    let disk = URL(fileURLWithPath: directory.file("disk")).resolvingSymlinksInPath().path
    variables = [
      "LD_PRELOAD": Self.library?.path ?? "", "FAILING_FILES": disk,
      "FAILING_SWITCH": directory.file("fault"),
    ]
  }

  func begin(_ fault: Fault) throws {
    try Data().write(to: URL(fileURLWithPath: directory.file("fault.\(fault.rawValue)")))
  }

  func end(_ fault: Fault) throws {
    try FileManager.default.removeItem(atPath: directory.file("fault.\(fault.rawValue)"))
  }
}
