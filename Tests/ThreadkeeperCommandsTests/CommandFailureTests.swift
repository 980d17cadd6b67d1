// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ThreadkeeperCommands

@Suite("Failures of commands")
struct CommandFailureTests {
  @Test("A failure says what went wrong and what to do")
  func text() {
    let failure = CommandFailure(.unavailable, "no broker at 1.2.3.4", remedy: "start it")
    #expect(failure.text(style: .plain) == "error: no broker at 1.2.3.4\nhelp: start it\n")
    #expect(CommandFailure(.software, "x").text(style: .plain) == "error: x\n")
  }

  @Test("The numbers are those of sysexits.h")
  func numbers() {
    #expect(ExitStatus.usage.rawValue == 64)
    #expect(ExitStatus.badInput.rawValue == 65)
    #expect(ExitStatus.noInput.rawValue == 66)
    #expect(ExitStatus.inputOutput.rawValue == 74)
    #expect(ExitStatus.configuration.rawValue == 78)
  }

  @Test("JSON has sorted keys in snake_case")
  func json() throws {
    struct Value: Encodable {
      let networkName = "a/b"
      let active = 1
      let missing: String? = nil
    }
    #expect(
      try JSONText.pretty(Value()) == """
        {
          "active" : 1,
          "network_name" : "a/b"
        }

        """)
  }
}
