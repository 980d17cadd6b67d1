// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import Foundation
import Testing

@Suite("Completeness of the reference")
struct ReferenceTests {
  @Test("The page about alerts has every alert")
  func alerts() throws {
    let text = try ProjectFiles.text(of: "docs/reference/alerts.md")
    for name in AlertName.allCases {
      #expect(text.contains("| `\(name.rawValue)` |"), "\(name) is missing")
    }
  }

  @Test("The page about settings has every key of the settings file, and no other")
  func settings() throws {
    let text = try ProjectFiles.text(of: "docs/reference/settings.md")
    var section: [String] = []
    var keys: Set<String> = []
    for line in try ProjectFiles.text(of: "config/threadkeeper.yaml").split(separator: "\n") {
      guard let match = line.firstMatch(of: #/^(?<indent> *)(?<key>[a-z_]+):(?<value>.*)$/#) else {
        continue
      }
      section = section.prefix(match.output.indent.count / 2) + [String(match.output.key)]
      if !match.output.value.isEmpty { keys.insert(section.joined(separator: ".")) }
    }
    #expect(keys.count > 25)
    let listed = Set(
      text.matches(of: #/(?m)^\| `(?<key>[a-z_.]+)` \|/#).map { String($0.output.key) })
    #expect(listed == keys, "\(listed.symmetricDifference(keys).sorted())")
  }
}
