import Foundation

/// A document of the project, taken apart into what it tells people to type.
struct Handbook {
  struct Missing: Error, CustomStringConvertible { let description: String }

  private let text: String
  private let name: String

  /// - Parameter name: the path below the project.
  init(_ name: String) throws {
    self.name = name
    text = try ProjectFiles.text(of: name)
  }

  /// The blocks between two fences, without the indentation of a list, below a heading.
  ///
  /// - Throws: `Missing` when there is no such heading.
  func blocks(below heading: String) throws -> [String] {
    guard let start = text.range(of: "\n## \(heading)\n") else {
      throw Missing(description: "\(name) has no heading \(heading)")
    }
    let rest = text[start.upperBound...]
    let section = rest.range(of: "\n## ").map { rest[..<$0.lowerBound] } ?? rest
    let lines = section.split(separator: "\n", omittingEmptySubsequences: false)
    var blocks: [String] = []
    var block: [Substring]?
    var indentation = 0
    for line in lines {
      let content = line.drop { $0 == " " }
      if content.hasPrefix("```") {
        indentation = line.count - content.count
        if let ended = block { blocks.append(ended.joined(separator: "\n") + "\n") }
        block = block == nil ? [] : nil
      } else {
        block?.append(line.dropFirst(min(indentation, line.count - content.count)))
      }
    }
    return blocks
  }

  /// The first block below a heading that has a text.
  func block(below heading: String, with part: String) throws -> String {
    guard let block = try blocks(below: heading).first(where: { $0.contains(part) }) else {
      throw Missing(description: "\(name) has no block with \(part) below \(heading)")
    }
    return block
  }

  /// The arguments of the command `threadkeeper acl` below a heading, as a shell would pass them.
  func accessListArguments(below heading: String) throws -> [String] {
    let block = try block(below: heading, with: "threadkeeper acl")
    let command = block.components(separatedBy: "threadkeeper acl")[1].replacing("\\\n", with: " ")
    let end = command.firstIndex { "|>\n".contains($0) } ?? command.endIndex
    return ["acl"] + command[..<end].split(separator: " ").map(String.init)
  }
}
