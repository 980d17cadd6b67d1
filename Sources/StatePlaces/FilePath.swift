// SPDX-License-Identifier: Apache-2.0

/// Paths as text: made absolute, compared without asking the file system.
package enum FilePath {
  /// - Parameters:
  ///   - path: absolute, relative to `directory`, or below the home directory (`~/…`).
  ///   - home: value of `HOME`.
  /// - Returns: an absolute path without `.` and doubled slashes; nil without an absolute `home`
  ///   for a path that needs one, and for `~name`.
  package static func absolute(_ path: String, in directory: String, home: String?) -> String? {
    var path = path
    if path == "~" || path.hasPrefix("~/") {
      guard let home, home.hasPrefix("/") else { return nil }
      path = home + path.dropFirst()
    } else if path.hasPrefix("~") {
      return nil
    } else if !path.hasPrefix("/") {
      path = directory + "/" + path
    }
    let parts = path.split(separator: "/").filter { $0 != "." }
    return "/" + parts.joined(separator: "/")
  }

  package static func directory(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// Whether the first is the second or lies below it. Both absolute; `..` is resolved by name.
  package static func isInside(_ path: String, _ directory: String) -> Bool {
    parts(path).starts(with: parts(directory))
  }

  private static func parts(_ path: String) -> [Substring] {
    var parts: [Substring] = []
    for part in path.split(separator: "/") {
      if part == ".." { _ = parts.popLast() } else if part != "." { parts.append(part) }
    }
    return parts
  }
}
