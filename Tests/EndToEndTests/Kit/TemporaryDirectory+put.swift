// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit

extension TemporaryDirectory {
  /// A file that is there whole or not at all.
  func put(_ text: String, _ name: String) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: file(name)), options: .atomic)
  }

  /// A line that only its user reads; its path.
  @discardableResult
  func putSecret(_ line: String, _ name: String) throws -> String {
    try put(line + "\n", name)
    chmod(file(name), 0o600)
    return file(name)
  }

  /// A program of this name.
  func putScript(_ text: String, _ name: String) throws {
    try put("#!/bin/sh\n" + text, name)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file(name))
  }
}
