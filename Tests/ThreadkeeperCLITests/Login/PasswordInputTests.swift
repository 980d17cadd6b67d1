// SPDX-License-Identifier: Apache-2.0

import Testing
import ThreadkeeperDaemon

@testable import ThreadkeeperCLI

@Suite("A password from standard input")
struct PasswordInputTests {
  @Test(
    "One line end at the end is not part of the password",
    arguments: [
      ("one", "one"), ("one\n", "one"), ("one\r\n", "one"), ("one\n\n", "one\n"),
      ("one\r", "one\r"), (" one ", " one "), ("\n", ""), ("", ""),
    ])
  func lineEnd(text: String, password: String) {
    #expect(Password.withoutLineEnd(Array(text.utf8)).elementsEqual(password.utf8))
  }
}
