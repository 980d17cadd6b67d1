// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ThreadkeeperCLI
@testable import ThreadkeeperDaemon

@Suite("Tables")
struct TableTests {
  @Test("Columns are aligned, lines have no white space at their end")
  func alignment() {
    var table = Table(columns: "Name", "State", "Since")
    #expect(table.isEmpty)
    table.add("Küche", "online")
    table.add("x", "", "yesterday", "too many")
    #expect(
      table.text(style: .plain) == """
        Name   State   Since
        Küche  online
        x              yesterday

        """)
  }

  @Test("On a terminal, cells of the widest columns are wrapped between words so that rows fit")
  func narrow() {
    var table = Table(columns: "ID", "WANTS", "REMEDY")
    table.add("c-0123456789", "the credentials of the network", "Run `threadkeeper consent list`")
    table.add("c-1", "nothing", "none")
    #expect(
      table.text(style: .plain, width: 60) == """
        ID            WANTS              REMEDY
        c-0123456789  the credentials    Run
                      of the network     `threadkeeper consent list`
        c-1           nothing            none

        """)
    // Nothing shorter than its longest words; in a pipe each row is one line.
    #expect(table.text(style: .plain, width: 10).contains("  `threadkeeper consent list`\n"))
    #expect(
      table.text(style: .plain, width: nil).split(separator: "\n").count == 3)
  }

  @Test("The header is bold where the style is on, and only there")
  func header() {
    var table = Table(columns: "A")
    table.add("b")
    #expect(table.text(style: TerminalStyle(isOn: true)) == "\u{1B}[1mA\u{1B}[0m\nb\n")
  }

  @Test(
    "What could command a terminal is escaped, everything else is left alone",
    arguments: [
      ("a\u{1B}[2J", #"a\u{1b}[2J"#), ("line\nline", #"line\u{a}line"#), ("\u{7F}", #"\u{7f}"#),
      ("\u{9B}31m", #"\u{9b}31m"#), ("a\u{202E}b", #"a\u{202e}b"#), ("\r\n", #"\u{d}\u{a}"#),
      ("Küche 日本 👨‍👩‍👧", "Küche 日本 👨‍👩‍👧"), ("", ""),
    ])
  func printable(text: String, shown: String) {
    #expect(text.printable == shown)
  }
}
