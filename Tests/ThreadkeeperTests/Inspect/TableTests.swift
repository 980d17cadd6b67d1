import Testing

@testable import Threadkeeper

@Suite("Lists") struct TableTests {
  private func table() -> Table {
    Table(
      ["ID", "NAME", "PROBLEM"],
      [["a1b2c3d4", "Living room", "It is on another network than the preferred one."], ["e5f60718", "Hub", ""]])
  }

  @Test("In a file a row is a line, however long") func file() {
    #expect(
      table().text(style: .plain, limit: nil) == """
        ID        NAME         PROBLEM
        a1b2c3d4  Living room  It is on another network than the preferred one.
        e5f60718  Hub

        """)
  }

  @Test("On a terminal no line is longer than it, and the widest cells go on in the next line, between words")
  func terminal() {
    #expect(
      table().text(style: .plain, limit: 40) == """
        ID        NAME         PROBLEM
        a1b2c3d4  Living room  It is on another
                               network than the
                               preferred one.
        e5f60718  Hub

        """)
  }

  @Test(
    "What has no space is cut, and nothing of it is lost; a table with room is as in a file",
    arguments: [30, 34, 47, 80]) func lossless(limit: Int)
  {
    let print = String(repeating: "0123456789abcdef", count: 2)
    let table = Table(["FINGERPRINT", "USER"], [[print, "border-router"]])
    let lines = table.text(style: .plain, limit: limit).split(separator: "\n")
    #expect(lines.allSatisfy { $0.count <= limit }, "\(lines)")
    let pieces = lines.dropFirst().map { $0.prefix { $0 != " " } }
    #expect(pieces.joined() == print, "\(lines)")
    #expect(limit < 47 || lines.count == 2)
  }
}
