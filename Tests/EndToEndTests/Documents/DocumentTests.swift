// SPDX-License-Identifier: Apache-2.0

import Broker
import Foundation
import Home
import Testing

@Suite("The documents")
struct DocumentTests {
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

  @Test("Every relative link leads to a file, and its anchor to a heading there")
  func links() throws {
    for page in try ProjectFiles.pages() {
      for link in page.links {
        let parts = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let folder = URL(fileURLWithPath: "/" + page.path).deletingLastPathComponent()
        let target =
          parts[0].isEmpty
          ? page.path
          : String(folder.appendingPathComponent(String(parts[0])).standardized.path.dropFirst())
        guard ProjectFiles.exists(target) else {
          Issue.record("\(page.path): \(link) leads to \(target), which is not there")
          continue
        }
        guard parts.count == 2 else { continue }
        let anchors = try MarkdownPage(target).anchors
        #expect(
          anchors.contains(String(parts[1])), "\(page.path): \(target) has no heading for \(link)")
      }
    }
  }

  @Test("Every page below docs is listed in the index")
  func index() throws {
    let index = try MarkdownPage("docs/README.md")
    let listed = Set(index.links.map { "docs/" + $0.prefix { $0 != "#" } })
    let pages = try ProjectFiles.below("docs").filter { $0.hasSuffix(".md") }
    for page in pages where page != index.path {
      #expect(listed.contains(page), "\(page) is not in docs/README.md")
    }
  }

  @Test("Every page that a source, a setting or an example names is there")
  func mentions() throws {
    let folders = ["Sources", "Tests", "config", "examples"]
    let files = try folders.flatMap { try ProjectFiles.below($0) } + ["Makefile", "Package.swift"]
    for file in files {
      guard let text = try? ProjectFiles.text(of: file) else { continue }
      for mention in text.matches(of: #/docs/[a-z/-]+\.md/#) {
        #expect(ProjectFiles.exists(String(mention.output)), "\(file) names \(mention.output)")
      }
    }
  }

  @Test("The page about alerts has every alert")
  func alerts() throws {
    let text = try ProjectFiles.text(of: "docs/reference/alerts.md")
    for name in AlertName.allCases {
      #expect(text.contains("| `\(name.word)` |"), "\(name) is missing")
    }
  }
}
