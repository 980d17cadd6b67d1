// SPDX-License-Identifier: Apache-2.0

import Broker
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
}
