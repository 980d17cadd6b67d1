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
