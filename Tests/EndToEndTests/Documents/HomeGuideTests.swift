import Foundation
import Testing

/// The pages that lead a home from nothing to protected, and what their way may cost a person.
@Suite("The guides of the three homes") struct HomeGuideTests {
  private static let limits = [
    ("docs/guides/makers-routers.md", HomeCost(commands: 5, pastes: 1, files: 0)),
    ("docs/guides/openthread-border-router.md", HomeCost(commands: 5, pastes: 1, files: 0)),
    ("docs/guides/add-on.md", HomeCost(commands: 0, pastes: 1, files: 0)),
  ]

  /// The lines of a page up to its heading "Protected".
  private func way(of page: MarkdownPage) throws -> [String] {
    let lines = page.lines.map(\.text)
    let end = try #require(lines.firstIndex(of: "## Protected"), "\(page.path) leads to no heading \"Protected\"")
    return Array(lines[..<end])
  }

  @Test(
    "Each says in its first lines what is counted in it, within the limits, and the README says the same",
    arguments: limits) func cost(path: String, limit: HomeCost) throws
  {
    let page = try MarkdownPage(path)
    let counted = HomeCost(counting: try way(of: page))
    #expect(counted.unknownFences.isEmpty, "\(path)")
    let stated = HomeCost(stated: page.lines.prefix(6).map(\.text).joined(separator: " "))
    #expect(stated == counted, "\(path)")
    #expect(counted.commands <= limit.commands, "\(path)")
    #expect(counted.pastes <= limit.pastes, "\(path)")
    #expect(counted.files <= limit.files, "\(path)")
    let row = try MarkdownPage("README.md").lines.first { $0.text.hasPrefix("|") && $0.text.contains("(\(path))") }
    #expect(HomeCost(stated: row?.text ?? "") == counted, "README.md, \(path)")
  }

  @Test("Each has all steps of protection, and is among the first of the index", arguments: limits.map(\.0)) func steps(
    path: String
  ) throws {
    let text = try way(of: MarkdownPage(path)).joined(separator: " ").lowercased()
    for step in ["border router", "your network", "key", "send a test", "recovery code"] {
      #expect(text.contains(step), "\(path) leaves out: \(step)")
    }
    let first = try MarkdownPage("docs/README.md").links.prefix(Self.limits.count)
    #expect(first.contains { "docs/" + $0 == path }, "docs/README.md")
  }

  @Test(
    "A line of two commands counts as two, a comment as none, an editor or a redirection as an edited file",
    arguments: [
      (["Text; && > is no command."], HomeCost()),
      (["```sh", "make deb   # builds; for minutes", "# only a comment", "", "```"], HomeCost(commands: 1)),
      (["```sh", "cd threadkeeper && make deb; true", "```"], HomeCost(commands: 3)),
      (["   ```sh", "   threadkeeper setup \\", "     --yes", "   ```"], HomeCost(commands: 1)),
      (["```console", "$ threadkeeper status", "broker: connected", "```"], HomeCost(commands: 1)),
      (["```sh", "sudoedit /etc/threadkeeper/threadkeeper.yaml", "```"], HomeCost(commands: 1, files: 1)),
      (["```sh", "echo a: b >>settings.yaml", "printf c | sudo tee d", "```"], HomeCost(commands: 2, files: 2)),
      (["```paste", "http://192.168.1.10:8423/", "sudo make deb", "```"], HomeCost(pastes: 1)),
      (["```file", "host: embedded", "```"], HomeCost(files: 1)), (["```text", "connected", "```"], HomeCost()),
      (["```yaml", "mqtt:", "```"], HomeCost(unknownFences: ["```yaml"])),
      (["```", "make deb", "```"], HomeCost(unknownFences: ["```"])),
    ]) func counting(lines: [String], cost: HomeCost)
  { #expect(HomeCost(counting: lines) == cost) }

  @Test("A page that states no cost states nothing that could be equal to a count") func unstated() {
    #expect(HomeCost(stated: "Five commands, one paste, no file.") == nil)
    #expect(HomeCost(stated: "**1 command, 2 pastes, 0 files edited**") == HomeCost(commands: 1, pastes: 2))
  }
}

/// What a person does on the way of a guide. A paste is a text that is carried from one program into another, such as
/// an address or a token: a fence `paste`. The content of a file that is edited is in a fence `file`.
struct HomeCost: Equatable {
  var commands = 0
  var pastes = 0
  var files = 0
  /// Fences that are none of `sh`, `console`, `paste`, `file`, and `text` for what is printed: what is in them would not
  /// be counted.
  var unknownFences: [String] = []
}

extension HomeCost {
  /// By "5 commands, 1 paste, 0 files edited".
  init?(stated text: String) {
    guard let match = text.firstMatch(of: #/(\d+) commands?, (\d+) pastes?, (\d+) files? edited/#),
      let commands = Int(match.output.1), let pastes = Int(match.output.2), let files = Int(match.output.3)
    else { return nil }
    self.init(commands: commands, pastes: pastes, files: files)
  }

  init(counting lines: [String]) {
    self.init()
    var fence: String?
    var begun = ""
    for line in lines.map({ $0.trimmingCharacters(in: .whitespaces) }) {
      if line.hasPrefix("```") {
        fence = fence == nil ? String(line.dropFirst(3)) : nil
        switch fence {
        case nil, "sh", "console", "text": break
        case "paste": pastes += 1
        case "file": files += 1
        default: unknownFences.append(line)
        }
      } else if fence == "sh" || fence == "console" {
        let whole = begun + line
        begun = whole.hasSuffix("\\") ? String(whole.dropLast()) : ""
        if begun.isEmpty, fence == "sh" || whole.hasPrefix("$ ") { take(whole) }
      }
    }
  }

  private mutating func take(_ line: String) {
    for part in line.replacing(#/(^|\s)#.*/#, with: "").split(separator: #/&&|\|\||;/#) {
      guard part.contains(where: { !$0.isWhitespace }) else { continue }
      commands += 1
      if part.contains(#/>|\b(sudoedit|editor|nano|vim?|tee|sed -i)\b/#) { files += 1 }
    }
  }
}
