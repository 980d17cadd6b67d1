import Foundation
import Home
import TestKit
import Testing

@Suite("The documents") struct DocumentTests {
  @Test("The README has fewer than 200 lines") func readme() throws {
    #expect(try MarkdownPage("README.md").lines.count < 200)
  }

  @Test("The pages about the architecture and the code have at most 12 KB each") func explanations() throws {
    for page in ["architecture", "code-map"] {
      let text = try ProjectFiles.text(of: "docs/explanation/\(page).md")
      #expect(text.utf8.count <= 12_288, "\(page)")
    }
  }

  @Test("All pages below docs have at most 307,200 bytes together") func size() throws {
    let pages = try ProjectFiles.below("docs").filter { $0.hasSuffix(".md") }
    let sizes = try pages.map { try ProjectFiles.text(of: $0).utf8.count }
    #expect(sizes.reduce(0, +) <= 307_200)
  }

  @Test("No line has more than 120 columns, except in tables") func columns() throws {
    for page in try ProjectFiles.pages() {
      for line in page.lines where line.text.count > 120 && !line.text.drop(while: { $0 == " " }).hasPrefix("|") {
        Issue.record("\(page.path):\(line.number) has \(line.text.count) columns")
      }
    }
  }

  @Test("The documents use the plain words of the field") func plainWords() throws {
    let words = #/\b(?i:octets?|installations?|anew|stranger)\b/#
    for page in try ProjectFiles.pages() {
      for line in page.lines {
        // Names of options and fields are in code, and stay what they are.
        let text = line.isCode ? "" : line.text.replacing(#/`[^`]*`/#, with: "")
        for match in text.matches(of: words) { Issue.record("\(page.path):\(line.number) says \(match.output)") }
      }
    }
  }

  @Test("Every picture is shown on a page") func pictures() throws {
    let pages = try ProjectFiles.pages().flatMap(\.links).map { $0.split(separator: "/").last.map(String.init) }
    for picture in try ProjectFiles.below("docs/images") {
      #expect(pages.contains(picture.split(separator: "/").last.map(String.init)), "\(picture)")
    }
  }

  @Test("Every relative link leads to a file, and its anchor to a heading there") func links() throws {
    for page in try ProjectFiles.pages() {
      for link in page.links {
        let parts = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let folder = URL(fileURLWithPath: "/" + page.path).deletingLastPathComponent()
        let target =
          parts[0].isEmpty
          ? page.path : String(folder.appendingPathComponent(String(parts[0])).standardized.path.dropFirst())
        guard ProjectFiles.exists(target) else {
          Issue.record("\(page.path): \(link) leads to \(target), which is not there")
          continue
        }
        guard parts.count == 2 else { continue }
        let anchors = try MarkdownPage(target).anchors
        #expect(anchors.contains(String(parts[1])), "\(page.path): \(target) has no heading for \(link)")
      }
    }
  }

  @Test("Every page below docs is listed in the index") func index() throws {
    let index = try MarkdownPage("docs/README.md")
    let listed = Set(index.links.map { "docs/" + $0.prefix { $0 != "#" } })
    let pages = try ProjectFiles.below("docs").filter { $0.hasSuffix(".md") }
    for page in pages where page != index.path { #expect(listed.contains(page), "\(page) is not in docs/README.md") }
  }

  @Test("Every page that a source, a setting or an example names is there") func mentions() throws {
    let folders = ["Sources", "Tests", "config", "examples"]
    let files = try folders.flatMap { try ProjectFiles.below($0) } + ["Makefile", "Package.swift"]
    for file in files {
      guard let text = try? ProjectFiles.text(of: file) else { continue }
      for mention in text.matches(of: #/docs/[a-z/-]+\.md/#) {
        #expect(ProjectFiles.exists(String(mention.output)), "\(file) names \(mention.output)")
      }
    }
  }

  @Test("Every setting that a message names is there") func settings() throws {
    let page = try ProjectFiles.text(of: "docs/reference/settings.md")
    let names = Set(page.matches(of: #/\| `([a-z_.]+)` \|/#).map { String($0.output.1) })
    let sections = Set(names.compactMap { $0.split(separator: ".").first.map(String.init) })
    for file in try ProjectFiles.below("Sources") where file.hasSuffix(".swift") {
      let text = try ProjectFiles.text(of: file).split(separator: "\n").filter {
        !$0.drop { $0 == " " }.hasPrefix("//")
      }.joined(separator: "\n")
      // In backquotes, also with a value after it.
      for mention in text.matches(of: #/`([a-z_]+)\.([a-z_.]+)(`|: )/#) {
        let (section, name) = (String(mention.output.1), "\(mention.output.1).\(mention.output.2)")
        guard sections.contains(section) else { continue }
        let isThere = names.contains(name) || names.contains { $0.hasPrefix(name + ".") }
        #expect(isThere, "\(file) names \(name)")
      }
    }
  }

  @Test("The page about alerts has every alert") func alerts() throws {
    let text = try ProjectFiles.text(of: "docs/reference/alerts.md")
    for name in AlertName.allCases { #expect(text.contains("| `\(name.word)` |"), "\(name) is missing") }
  }
}

@Suite("Commands in the documents") struct DocumentedCommandsTests {
  /// A command of the program with its options, as the program describes itself.
  private struct Command: Decodable {
    struct Argument: Decodable {
      struct Name: Decodable { let name: String }
      let names: [Name]?
    }
    let commandName: String
    let arguments: [Argument]?
    let subcommands: [Command]?
    let defaultSubcommand: String?

    func has(_ name: String) -> Bool { subcommands?.contains { $0.commandName == name } == true }

    var options: Set<String> { Set((arguments ?? []).flatMap { $0.names ?? [] }.map(\.name)) }
  }

  private struct Description: Decodable { let command: Command }

  private static func program() async throws -> Command {
    let outcome = try await ThreadkeeperBinary.run("--experimental-dump-help")
    return try JSONDecoder().decode(Description.self, from: Data(outcome.output.utf8)).command
  }

  @Test("Each command that a page has people type is there, with its options") func commands() async throws {
    let program = try await Self.program()
    var checked = 0
    for page in try ProjectFiles.pages() {
      for line in page.shellLines {
        guard let words = Self.invocation(in: line) else { continue }
        // Not in a program that was built without them.
        if words.first == "fleet", !program.has("fleet") { continue }
        checked += 1
        var command = program
        var rest = words[...]
        while let word = rest.first, let next = command.subcommands?.first(where: { $0.commandName == word }) {
          command = next
          rest = rest.dropFirst()
        }
        if command.commandName == program.commandName, let word = rest.first, !word.hasPrefix("-") {
          Issue.record("\(page.path): there is no command \(word): \(line)")
        }
        if let name = command.defaultSubcommand,
          let next = command.subcommands?.first(where: { $0.commandName == name })
        {
          command = next
        }
        // Every command takes the home of a fleet that asks a daemon.
        let isOfFleet = zip(rest, rest.dropFirst()).contains { $0 == "--home" && $1.contains("/") }
        for word in rest where word.hasPrefix("--") && !(isOfFleet && word == "--home") {
          #expect(
            command.options.contains(String(word.dropFirst(2))),
            "\(page.path): \(command.commandName) has no \(word): \(line)")
        }
      }
    }
    #expect(checked > 80)
  }

  @Test("The reference of the commands names every one of them") func reference() async throws {
    let text = try ProjectFiles.text(of: "docs/reference/commands.md")
    func check(_ command: Command, below parents: [String]) {
      for child in command.subcommands ?? [] where child.commandName != "help" {
        let name = (parents + [child.commandName]).joined(separator: " ")
        let isGroup = !(child.subcommands ?? []).isEmpty
        if !isGroup { #expect(text.contains("| `\(name)"), "\(name) is missing") }
        check(child, below: parents + [child.commandName])
      }
    }
    check(try await Self.program(), below: [])
  }

  /// The words after `threadkeeper`, up to a pipe, a redirection or a comment; nil where it is not called.
  private static func invocation(in line: String) -> [String]? {
    guard let match = line.firstMatch(of: #/^(?:\$ |sudo |sudo -u [a-z]+ )?threadkeeper (?<rest>[a-z][^|#<>&]*)/#)
    else { return nil }
    return match.output.rest.split(separator: " ").map(String.init)
  }
}

/// What people do with an example of settings: they put it to the end of the file that the package has made.
@Suite("Settings of the documents, pasted into the packaged ones", .timeLimit(.minutes(10))) struct SnippetTests {
  private struct Snippet: CustomStringConvertible {
    let description: String
    var lines: [String]
  }

  /// Examples of settings: those that begin with a section of the packaged file.
  private static func snippets(_ sections: Set<Substring>) throws -> [Snippet] {
    let guides = try ProjectFiles.below("docs/guides").filter { $0.hasSuffix(".md") }
    var found: [Snippet] = []
    for path in try ["README.md"] + guides + ProjectFiles.below("docs/reference") where path.hasSuffix(".md") {
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

  @Test("Each works, or its error names each line to change; changed there, it works") func paste() async throws {
    let packaged = try ProjectFiles.text(of: "config/threadkeeper.yaml").split(
      separator: "\n", omittingEmptySubsequences: false
    ).map(String.init)
    let sections = Set(packaged.filter { $0.first?.isLetter == true }.map { $0.prefix { $0 != ":" } })
    let snippets = try Self.snippets(sections)
    #expect(snippets.count >= 8)
    let directory = try TemporaryDirectory()
    let file = directory.file("threadkeeper.yaml")
    for name in ["mqtt_password", "http_token"] { try directory.putSecret("Sesame-71a-Sesame-71a", name) }
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
  private func follow(_ errors: String, _ packaged: [String], _ snippet: Snippet) throws -> [String] {
    var file = packaged
    var rest = snippet.lines
    for error in errors.split(separator: "\n") where error.contains("duplicate key") {
      let match = try #require(
        String(error).firstMatch(of: #/duplicate key `(\w+)`, first given on line (\d+): (.*)/#), "\(snippet): \(error)"
      )
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
        let place = own.firstIndex { $0.trimmingCharacters(in: .whitespaces).hasPrefix("\(key):") }
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
