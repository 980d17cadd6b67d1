// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A directory of a test's own, mode 0700, that is gone with this object.
package final class TemporaryDirectory: Sendable {
  /// Without a slash at its end.
  package let path: String

  package init() throws {
    let place = FileManager.default.temporaryDirectory.path
    var template = Array("\(place)/threadkeeper-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      throw CocoaError(.fileWriteUnknown)
    }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// The path of something in it.
  package func file(_ name: String) -> String { path + "/" + name }
}
