// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ThreadkeeperDaemon

@Suite("Exit statuses")
struct ExitStatusTests {
  @Test("The numbers are those of sysexits.h")
  func numbers() {
    #expect(ExitStatus.usage.rawValue == 64)
    #expect(ExitStatus.badInput.rawValue == 65)
    #expect(ExitStatus.noInput.rawValue == 66)
    #expect(ExitStatus.inputOutput.rawValue == 74)
    #expect(ExitStatus.configuration.rawValue == 78)
  }
}
