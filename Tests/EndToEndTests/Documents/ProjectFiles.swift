// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The checkout that the tests were built from.
enum ProjectFiles {
  static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("../../..").standardized

  static func text(of path: String) throws -> String {
    try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
  }

  static func exists(_ path: String) -> Bool {
    FileManager.default.fileExists(atPath: root.appendingPathComponent(path).path)
  }

  /// The files below a folder, as paths below the checkout, in order. Hidden ones are left out.
  static func below(_ folder: String) throws -> [String] {
    let place = root.appendingPathComponent(folder)
    let all = FileManager.default.enumerator(
      at: place, includingPropertiesForKeys: [.isRegularFileKey], options: [.skipsHiddenFiles])
    var paths: [String] = []
    while let file = all?.nextObject() as? URL {
      guard try file.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true else {
        continue
      }
      paths.append(String(file.standardized.path.dropFirst(root.path.count + 1)))
    }
    return paths.sorted()
  }

  /// Every page that people read on the project's site: the README, the documents and the examples' pages.
  static func pages() throws -> [MarkdownPage] {
    let paths = try (below("docs") + below("examples")).filter { $0.hasSuffix(".md") }
    return try (["README.md"] + paths).map { try MarkdownPage($0) }
  }
}
