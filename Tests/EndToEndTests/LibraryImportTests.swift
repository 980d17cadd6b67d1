// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Packages that ask `#if canImport(Security)` find the module, but not the C libraries below it: `make consumer`.
@Suite("What the library modules import")
struct LibraryImportTests {
  @Test(
    "The project's own modules are imported as implementation only",
    arguments: ["Security", "ThreadNetwork"])
  func hidden(module: String) throws {
    // The modules of the system.
    let visible: Set = ["Dispatch", "Foundation", "Glibc", "Musl", "Synchronization"]
    var found = 0
    for path in try ProjectFiles.below("Sources/\(module)") where path.hasSuffix(".swift") {
      for line in try ProjectFiles.text(of: path).split(separator: "\n") {
        let words = line.split(separator: " ")
        guard let place = words.firstIndex(of: "import"), place + 1 < words.count,
          words[..<place].allSatisfy({ $0.hasPrefix("@") || ["public", "internal"].contains($0) })
        else { continue }
        found += 1
        #expect(
          words[0] == "@_implementationOnly" || visible.contains(String(words[place + 1])),
          "\(path): \(line)")
      }
    }
    #expect(found > 0)
  }
}
