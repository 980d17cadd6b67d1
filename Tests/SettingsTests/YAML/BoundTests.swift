// SPDX-License-Identifier: Apache-2.0

import Settings
import Testing

/// Small texts that stand for much.
struct BoundTests {
  private static let tooDeep = "nested more than 64 levels deep"
  private static let tooMany = "more than 100000 values, those that aliases repeat among them"

  @Test(
    "Nesting without end stops at the bound, in every form",
    arguments: ["[", "{a: ", "{? ", "- ", "? ", "[{a: ", "&a [", "!t [", "!!seq ["])
  func deep(opening: String) {
    let text = String(repeating: opening, count: 10_000)
    #expect(failure(of: text)?.message == Self.tooDeep)
  }

  @Test("The last level inside the bound is read, the next one is not")
  func deepest() {
    func nested(_ levels: Int) -> String {
      String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
    }
    #expect(failure(of: nested(64)) == nil)
    #expect(failure(of: nested(65))?.message == Self.tooDeep)
    #expect(failure(of: nested(65))?.position == TextPosition(line: 1, column: 65))
  }

  @Test("Levels behind aliases count, so that no chain of them is deeper than the stack")
  func deepByAliases() {
    func chain(_ links: Int) -> String {
      "- &a0 x\n" + (1...links).map { "- &a\($0) [*a\($0 - 1)]\n" }.joined()
    }
    // The list around, the links, the scalar.
    #expect(failure(of: chain(62)) == nil)
    #expect(failure(of: chain(63))?.message == Self.tooDeep)
    #expect(failure(of: chain(20_000))?.message == Self.tooDeep)
  }

  @Test("Aliases of aliases are shared, not copied")
  func billionLaughs() throws {
    var text = "- &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]\n"
    for level in 1..<50 {
      let alias = "*a\(level - 1)"
      text += "- &a\(level) [\(Array(repeating: alias, count: 10).joined(separator: ","))]\n"
    }
    var node = try #require(try YAMLNode.read(text)?.nodes?.last)
    var levels = 0
    while let nodes = node.nodes {
      #expect(nodes.count == 10)
      node = nodes[9]
      levels += 1
    }
    #expect(levels == 50)
    #expect(node.scalar?.text == "lol")
  }

  @Test("A long list that is named again and again counts each time")
  func repeatedList() {
    func text(_ aliases: Int) -> String {
      let list = Array(repeating: "x", count: 900).joined(separator: ",")
      return "- &a [\(list)]\n" + String(repeating: "- *a\n", count: aliases)
    }
    #expect(failure(of: text(100)) == nil)
    #expect(failure(of: text(120))?.message == Self.tooMany)
  }

  @Test("Nodes without end stop at the bound", arguments: ["[1,1,", "{a,b,"])
  func manyOpen(opening: String) {
    let body = String(repeating: "1,", count: 100_000)
    #expect(failure(of: opening + body)?.message == Self.tooMany)
  }

  @Test("What is wrong before the bound is said, however much follows")
  func wrongAtOnce() {
    let text = "[," + String(repeating: "1,", count: 100_000)
    #expect(
      failure(of: text)?.message
        == "not YAML: while parsing a flow node that starts on line 1, did not find expected node "
        + "content")
  }

  @Test("The last node inside the bound is read, the next one is not")
  func many() {
    let body = String(repeating: "1,", count: 100_000)
    #expect(failure(of: "[" + body + "]")?.message == Self.tooMany)
    #expect(failure(of: "[" + body.dropLast(4) + "]") == nil)
  }
}
