// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ThreadkeeperCLI
@testable import ThreadkeeperDaemon

@Suite("Wrapped text")
struct TextWrapTests {
  @Test("Lines break between words, and a word that is too long has a line of its own")
  func words() {
    #expect(TextWrap.lines("one two three", width: 7) == ["one two", "three"])
    #expect(TextWrap.lines("a 0123456789 b", width: 5) == ["a", "0123456789", "b"])
    #expect(TextWrap.lines("", width: 5) == [""])
  }

  @Test("A command between backticks is never broken, nor what touches it")
  func commands() {
    #expect(
      TextWrap.lines("Then run `threadkeeper keys list`, please.", width: 20)
        == ["Then run", "`threadkeeper keys list`,", "please."])
    // A backtick alone begins none.
    #expect(TextWrap.lines("a ` b c", width: 3) == ["a `", "b c"])
  }

  @Test("Further lines of a paragraph are indented; without a width nothing is wrapped")
  func paragraph() {
    let text = "aaaaaaaaa bbbbbbbbb ccccccccc"
    #expect(TextWrap.paragraph(text, indent: 2, width: 22) == "aaaaaaaaa bbbbbbbbb\n  ccccccccc")
    #expect(TextWrap.paragraph(text, indent: 2, width: nil) == text)
  }

  @Test("An error is wrapped with its label, and its command stays in one piece")
  func failure() {
    let failure = CommandFailure(
      .usage, "something is wrong with this", remedy: "Run `threadkeeper check-config --json`.")
    #expect(
      failure.text(style: .plain, width: 30) == """
        error: something is wrong with
               this
        help: Run
              `threadkeeper check-config --json`.

        """)
  }
}
