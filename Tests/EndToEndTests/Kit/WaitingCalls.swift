// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Calls of a Unix socket that nobody has accepted yet: the kernel has them under the socket's name, without
/// an inode.
enum WaitingCalls {
  static func count(at path: String) throws -> Int {
    let table = try #require(FileHandle(forReadingAtPath: "/proc/net/unix"))
    defer { try? table.close() }
    var bytes = Data()
    // The kernel hands out a page at a time. What reads a whole file at once takes the first for all.
    while let part = try table.read(upToCount: 65_536), !part.isEmpty { bytes += part }
    let name = path.replacing("//", with: "/")
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").count {
      let columns = $0.split(separator: " ")
      return columns.count == 8 && columns[6] == "0" && columns[7] == name
    }
  }
}
