// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ThreadkeeperCLI
@testable import ThreadkeeperDaemon

@Suite("Failures of commands")
struct CommandFailureTests {
  @Test("A failure says what went wrong and what to do")
  func text() {
    let failure = CommandFailure(.unavailable, "no broker at 1.2.3.4", remedy: "start it")
    #expect(failure.text(style: .plain) == "error: no broker at 1.2.3.4\nhelp: start it\n")
    #expect(CommandFailure(.software, "x").text(style: .plain) == "error: x\n")
  }
}
