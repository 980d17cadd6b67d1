// SPDX-License-Identifier: Apache-2.0

import Glibc

/// What is in a directory, without Foundation.
package enum DirectoryNames {
  /// The names in it but `.` and `..`; none when it can't be read.
  package static func list(_ path: String) -> [String] {
    guard let directory = opendir(path) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }
}
