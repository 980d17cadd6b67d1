import Foundation

/// The checkout that the tests were built from.
enum ProjectFiles {
  static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../..")
    .standardized

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
      guard try file.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true else { continue }
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

/// A Markdown file of the project: its lines, links and headings.
struct MarkdownPage {
  struct Line {
    /// From 1.
    let number: Int
    let text: String
    /// Inside of a fence, or the fence itself.
    let isCode: Bool
  }

  /// Below the checkout.
  let path: String
  let lines: [Line]

  /// - Parameter path: below the checkout.
  init(_ path: String) throws {
    self.path = path
    var isCode = false
    var lines: [Line] = []
    let text = try ProjectFiles.text(of: path)
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      let isFence = line.drop { $0 == " " }.hasPrefix("```")
      if isFence { isCode.toggle() }
      lines.append(Line(number: index + 1, text: String(line), isCode: isCode || isFence))
    }
    self.lines = lines
  }

  /// The lines of prose, tables and headings as one text, so that a link may be broken over two lines.
  var prose: String { lines.filter { !$0.isCode }.map(\.text).joined(separator: "\n") }

  /// What links lead to, without those to other sites.
  var links: [String] {
    prose.matches(of: #/\]\(([^)\s]+)\)/#).map { String($0.output.1) }.filter { $0.firstMatch(of: #/^[a-z]+:/#) == nil }
  }

  /// The headings as the anchors that GitHub and GitLab make of them.
  var anchors: Set<String> {
    Set(
      lines.filter { !$0.isCode && $0.text.hasPrefix("#") }.map { line in
        let title = line.text.drop { $0 == "#" }.drop { $0 == " " }.replacing(#/\[([^\]]*)\]\([^)]*\)/#) {
          String($0.output.1)
        }
        return String(
          title.lowercased().compactMap { character -> Character? in
            switch character {
            case " ": "-"
            case "-", "_": character
            default: character.isLetter || character.isNumber ? character : nil
            }
          })
      })
  }

  /// The shell commands of all fences, in order, with lines that end in a backslash joined.
  var shellLines: [String] {
    lines.filter(\.isCode).map(\.text).joined(separator: "\n").replacing("\\\n", with: " ").split(separator: "\n").map {
      $0.trimmingCharacters(in: .whitespaces)
    }
  }
}
