// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("Form of the documents")
struct DocumentFormTests {
  @Test("The README has fewer than 200 lines")
  func readme() throws {
    #expect(try MarkdownPage("README.md").lines.count < 200)
  }

  @Test("The page about the architecture has at most 12 KB")
  func architecture() throws {
    #expect(try ProjectFiles.text(of: "docs/explanation/architecture.md").utf8.count <= 12_288)
  }

  @Test("No line has more than 120 columns, except in tables")
  func columns() throws {
    for page in try ProjectFiles.pages() {
      for line in page.lines
      where line.text.count > 120 && !line.text.drop(while: { $0 == " " }).hasPrefix("|") {
        Issue.record("\(page.path):\(line.number) has \(line.text.count) columns")
      }
    }
  }

  @Test("The documents use the plain words of the field")
  func plainWords() throws {
    let words = #/\b(?i:octets?|installations?|anew|stranger)\b/#
    for page in try ProjectFiles.pages() {
      for line in page.lines {
        // Names of options and fields are in code, and stay what they are.
        let text = line.isCode ? "" : line.text.replacing(#/`[^`]*`/#, with: "")
        for match in text.matches(of: words) {
          Issue.record("\(page.path):\(line.number) says \(match.output)")
        }
      }
    }
  }
}
