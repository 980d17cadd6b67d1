import Foundation
import Testing

/// JSON in lines of at most 120 columns: what fits into one stands in one, and a list of texts fills its lines. Members
/// stay in their order. For JSON of ours: what is wrong ends the program.
package struct JSONLayout {
  private indirect enum Node {
    case leaf(String)
    case list([Node])
    case object([(name: String, node: Node)])

    var line: String {
      switch self {
      case .leaf(let text): text
      case .list(let nodes): "[\(nodes.map(\.line).joined(separator: ", "))]"
      case .object(let members): "{\(members.map { "\($0.name): \($0.node.line)" }.joined(separator: ", "))}"
      }
    }
  }

  private static let width = 120
  private var rest: Substring

  package static func text(_ json: String) -> String {
    var layout = JSONLayout(rest: json[...])
    return lines(layout.node(), "", "", isOutermost: true).joined(separator: "\n") + "\n"
  }

  /// A schema with others among its definitions, and theirs.
  package static func schema(_ json: String, with others: [(name: String, json: String)]) -> String {
    var layout = JSONLayout(rest: json[...])
    guard case .object(var members) = layout.node(),
      let index = members.firstIndex(where: { $0.name == "\"definitions\"" }),
      case .object(var definitions) = members[index].node
    else { return json }
    func define(_ name: String, _ node: Node) {
      if let known = definitions.firstIndex(where: { $0.name == name }) {
        definitions[known].node = node
      } else {
        definitions.append((name, node))
      }
    }
    for (name, json) in others {
      var layout = JSONLayout(rest: json[...])
      guard case .object(let other) = layout.node() else { continue }
      for case ("\"definitions\"", .object(let all)) in other { for (name, node) in all { define(name, node) } }
      let own = other.filter { !["\"$schema\"", "\"title\"", "\"definitions\""].contains($0.name) }
      if !name.isEmpty { define("\"\(name)\"", .object(own)) }
    }
    members[index].node = .object(definitions)
    return lines(.object(members), "", "", isOutermost: true).joined(separator: "\n") + "\n"
  }

  // MARK: Reading

  private mutating func skipSpace() { rest = rest.drop(while: \.isWhitespace) }

  private mutating func take(_ character: Character) -> Bool {
    skipSpace()
    guard rest.first == character else { return false }
    rest.removeFirst()
    return true
  }

  private mutating func node() -> Node {
    if take("{") {
      var members: [(name: String, node: Node)] = []
      while !take("}") {
        let name = leaf()
        precondition(take(":"), "no colon after \(name)")
        members.append((name, node()))
        _ = take(",")
      }
      return .object(members)
    }
    guard take("[") else { return .leaf(leaf()) }
    var nodes: [Node] = []
    while !take("]") {
      nodes.append(node())
      _ = take(",")
    }
    return .list(nodes)
  }

  private mutating func leaf() -> String {
    skipSpace()
    var end = rest.startIndex
    if rest.first == "\"" {
      repeat {
        if rest[end] == "\\" { end = rest.index(after: end) }
        end = rest.index(after: end)
      } while rest[end] != "\""
      end = rest.index(after: end)
    } else {
      end = rest.firstIndex { ",:]}".contains($0) || $0.isWhitespace } ?? rest.endIndex
    }
    precondition(end > rest.startIndex, "no value: \(rest.prefix(20))")
    defer { rest = rest[end...] }
    return String(rest[..<end])
  }

  // MARK: Writing

  private static func lines(_ node: Node, _ start: String, _ end: String, isOutermost: Bool = false) -> [String] {
    let indent = String(start.prefix { $0 == " " }) + "  "
    let line = start + node.line + end
    if line.count <= width && !isOutermost { return [line] }
    switch node {
    case .leaf: return [line]
    case .list(let nodes):
      let inner = separated(nodes.map { ("", $0) }, indent)
      return ["\(start)["] + filled(inner, indent) + ["\(indent.dropLast(2))]\(end)"]
    case .object(let members):
      let inner = separated(members.map { ("\($0.name): ", $0.node) }, indent)
      return ["\(start){"] + inner + ["\(indent.dropLast(2))}\(end)"]
    }
  }

  private static func separated(_ all: [(String, Node)], _ indent: String) -> [String] {
    all.enumerated().flatMap { index, one in lines(one.1, indent + one.0, index == all.count - 1 ? "" : ",") }
  }

  /// Texts together, up to the width.
  private static func filled(_ lines: [String], _ indent: String) -> [String] {
    var result: [String] = []
    for line in lines {
      let text = line.dropFirst(indent.count)
      let isText = text.hasPrefix("\"") && lines.count > 1
      if isText, let last = result.last, last.hasSuffix(","), last.count + 1 + text.count <= width {
        result[result.count - 1] += " \(text)"
      } else {
        result.append(line)
      }
    }
    return result
  }
}

private func url(_ path: String) -> URL {
  URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../\(path)")
}

/// - Parameter path: below the checkout.
package func document(_ path: String) throws -> String { try String(contentsOf: url(path), encoding: .utf8) }

/// A file of the documents that comes from the declarations of the messages. `make wire` writes it.
package func expectFile(_ path: String, has text: String, _ location: SourceLocation = #_sourceLocation) throws {
  if ProcessInfo.processInfo.environment["MAKE_GOLDEN"] == "1" {
    try text.write(to: url(path), atomically: true, encoding: .utf8)
  }
  let known = try document(path)
  #expect(text == known, "\(path) differs from the messages of the code; run `make wire`", sourceLocation: location)
}

/// A part of a file, between the line that ends with `wire: NAME` and the next one with `wire: end`, each perhaps in a
/// comment. All of its lines are made.
package func expectPart(
  _ name: String, of path: String, has text: String, _ location: SourceLocation = #_sourceLocation
) throws {
  let lines = try document(path).split(separator: "\n", omittingEmptySubsequences: false)
  let begin = try #require(
    lines.firstIndex { $0.contains("wire: \(name)") }, "\(path): \(name)", sourceLocation: location)
  let end = try #require(lines[begin...].firstIndex { $0.contains("wire: end") }, "\(name)", sourceLocation: location)
  let made = lines[...begin] + text.split(separator: "\n", omittingEmptySubsequences: false) + lines[end...]
  try expectFile(path, has: made.joined(separator: "\n"), location)
}
