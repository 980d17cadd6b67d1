// SPDX-License-Identifier: Apache-2.0

import BoundedJSON
import Testing

@Suite("JSON pointers")
struct JSONPointerTests {
  /// RFC 6901, section 5.
  private static let example = #"""
    {"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\j":5,"k\"l":6," ":7,"m~n":8}
    """#

  private func tree(_ text: String, depth: Int = 8) throws -> JSONTree {
    try UntrustedJSON.tree(of: Array(text.utf8), depth: depth)
  }

  private func value(_ pointer: String, _ tree: JSONTree) throws -> JSONTree? {
    tree[try #require(JSONPointer(pointer), "\(pointer)")]
  }

  @Test("The examples of the RFC name what it says")
  func examples() throws {
    let tree = try tree(Self.example)
    #expect(try value("", tree) == tree)
    #expect(try value("/foo/0", tree) == .string("bar"))
    for (number, pointer) in [
      "/", "/a~1b", "/c%d", "/e^f", "/g|h", "/i\\j", "/k\"l", "/ ", "/m~0n",
    ].enumerated() {
      #expect(
        try value(pointer, tree) == .number("\(number)", unsigned: UInt64(number)), "\(pointer)")
    }
  }

  @Test(
    "What is not there is nil",
    arguments: [
      "/no", "/foo/2", "/foo/-", "/foo/00", "/foo/01", "/foo/+1", "/foo/x", "/foo/0/x", "/a~1b/c",
      "/foo/99999999999999999999",
    ])
  func absent(pointer: String) throws {
    #expect(try value(pointer, tree(Self.example)) == nil)
  }

  @Test("What is no pointer is refused", arguments: ["a", "a/b", "/~", "/~2", "/a~", "#/a", " /a"])
  func refused(text: String) { #expect(JSONPointer(text) == nil) }

  @Test(
    "Names are compared byte by byte, escapes resolved; the first value that is not null counts")
  func names() throws {
    let tree = try tree(#"{"\u0061":1,"e\u0301":2,"x":null,"x":3,"x":4}"#)
    #expect(try value("/a", tree) == .number("1", unsigned: 1))
    #expect(try value("/\u{e9}", tree) == nil)
    #expect(try value("/e\u{301}", tree) == .number("2", unsigned: 2))
    #expect(try value("/x", tree) == .number("3", unsigned: 3))
  }

  @Test("Every kind of value comes as it is")
  func values() throws {
    let tree = try tree(#"[true,false,null,-1.5e3,"\ud800","é",{},[]]"#)
    #expect(
      tree
        == .array([
          .bool(true), .bool(false), .null, .number("-1.5e3", unsigned: nil), .string(nil),
          .string("é"), .object([:]), .array([]),
        ]))
  }

  @Test("What is no JSON, or too deep, is refused where it is")
  func flaws() {
    func flaw(_ bytes: [UInt8]) -> JSONFlaw? {
      do throws(JSONFlaw) {
        _ = try UntrustedJSON.tree(of: bytes, depth: 2)
        return nil
      } catch {
        return error
      }
    }
    #expect(flaw(Array("{\"a\":[1]}".utf8)) == nil)
    #expect(flaw(Array("[[[1]]]".utf8)) == JSONFlaw(reason: .tooDeep, offset: 2))
    #expect(flaw(Array("{\"a\":1".utf8))?.reason == .syntax)
    #expect(flaw(Array("[1] 2".utf8)) == JSONFlaw(reason: .syntax, offset: 4))
    #expect(flaw(Array("[1,]".utf8))?.reason == .syntax)
    #expect(flaw([]) == JSONFlaw(reason: .syntax, offset: 0))
    #expect(flaw([0x22, 0xFF, 0x22]) == JSONFlaw(reason: .notUTF8, offset: 1))
  }
}
