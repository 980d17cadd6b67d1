// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing

/// What people do with an example of settings: they put it to the end of the file that the package has made.
@Suite("Settings of the documents, pasted into the packaged ones", .timeLimit(.minutes(10)))
struct SnippetTests {
  private struct Snippet: CustomStringConvertible {
    let description: String
    var lines: [String]
  }

  /// Examples of settings: those that begin with a section of the packaged file.
  private static func snippets(_ sections: Set<Substring>) throws -> [Snippet] {
    let guides = try ProjectFiles.below("docs/guides").filter { $0.hasSuffix(".md") }
    var found: [Snippet] = []
    for path in try ["README.md"] + guides + ProjectFiles.below("docs/reference")
    where path.hasSuffix(".md") {
      var open: Snippet?
      var indent = 0
      for line in try MarkdownPage(path).lines {
        if line.text.trimmingCharacters(in: .whitespaces) == "```yaml" {
          open = Snippet(description: "\(path):\(line.number)", lines: [])
          indent = line.text.prefix { $0 == " " }.count
        } else if let snippet = open, line.text.hasSuffix("```") {
          let first = snippet.lines.first { !$0.hasPrefix("#") } ?? ""
          if sections.contains(first.prefix { $0 != ":" }) { found.append(snippet) }
          open = nil
        } else {
          open?.lines.append(String(line.text.dropFirst(indent)))
        }
      }
    }
    return found
  }

  @Test("Each works, or its error names each line to change; changed there, it works")
  func paste() async throws {
    let packaged = try ProjectFiles.text(of: "config/threadkeeper.yaml")
      .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    let sections = Set(
      packaged.filter { $0.first?.isLetter == true }.map { $0.prefix { $0 != ":" } })
    let snippets = try Self.snippets(sections)
    #expect(snippets.count >= 8)
    let directory = try TemporaryDirectory()
    let file = directory.file("threadkeeper.yaml")
    for name in ["mqtt_password", "http_token"] {
      try directory.putSecret("Sesame-71a-Sesame-71a", name)
    }
    try directory.putSecret("host=db.example.net dbname=threadkeeper", "store_url")
    func check(_ lines: [String]) async throws -> ThreadkeeperBinary.Outcome {
      try Data(lines.joined(separator: "\n").utf8).write(to: URL(fileURLWithPath: file))
      return try await ThreadkeeperBinary.run(
        "check-config", "--config", file,
        // The page of another address than the machine's own needs one, as its guide says.
        environment: ["HOME": directory.path, "THREADKEEPER_HTTP_TOKEN": "Sesame-71a-Sesame-71a"])
    }
    for snippet in snippets {
      let pasted = try await check(packaged + snippet.lines)
      guard pasted.status != 0 else { continue }
      let changed = try follow(pasted.output, packaged, snippet)
      let outcome = try await check(changed)
      #expect(outcome.status == 0, "\(snippet): \(pasted.output)\(outcome.output)")
    }
  }

  /// Does what the errors say.
  private func follow(
    _ errors: String, _ packaged: [String], _ snippet: Snippet
  ) throws -> [String] {
    var file = packaged
    var rest = snippet.lines
    for error in errors.split(separator: "\n") where error.contains("duplicate key") {
      let match = try #require(
        String(error).firstMatch(of: #/duplicate key `(\w+)`, first given on line (\d+): (.*)/#),
        "\(snippet): \(error)")
      let section = match.output.1
      let line = try #require(Int(match.output.2))
      let remedy = match.output.3
      #expect(file[line - 1].hasPrefix("\(section):"), "\(snippet): \(error)")
      if remedy == "remove that line" {
        file[line - 1] = ""
        continue
      }
      try #require(remedy.hasPrefix("change it there: "), "\(snippet): \(error)")
      // The section's own lines, but for those that are changed, go below it.
      let begin = try #require(rest.firstIndex { $0.hasPrefix("\(section):") })
      var own = Array(rest[(begin + 1)...].prefix { !($0.first?.isLetter ?? false) })
      rest.removeSubrange(begin...(begin + own.count))
      for change in remedy.matches(of: #/`([\w.]+)` on line (\d+)/#) {
        let key = change.output.1.split(separator: ".").last ?? ""
        let number = try #require(Int(change.output.2))
        let place = own.firstIndex {
          $0.trimmingCharacters(in: .whitespaces).hasPrefix("\(key):")
        }
        let index = try #require(place, "\(snippet): \(error)")
        #expect(file[number - 1].trimmingCharacters(in: .whitespaces).hasPrefix("\(key):"))
        file[number - 1] = own.remove(at: index)
      }
      let isLeft = own.contains { $0.contains(":") && !$0.contains("#") && !$0.hasSuffix(":") }
      #expect(!isLeft, "\(snippet): \(error) says nothing of \(own)")
    }
    return file + rest
  }
}
