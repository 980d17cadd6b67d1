// SPDX-License-Identifier: Apache-2.0

import Foundation
import SodiumCrypto
import Testing

@Suite struct ProcessHardeningTests {
  // In a process of its own: the tests beside it should still leave a trace when they crash.
  @Test func noCoreIsDumpedAfterwards() async {
    await #expect(processExitsWith: .exitCode(3)) {
      try ProcessHardening.forbidCoreDumps()
      exit(ProcessHardening.areCoreDumpsForbidden ? 3 : 4)
    }
  }

  @Test func coreDumpsAreAllowedBefore() {
    #expect(!ProcessHardening.areCoreDumpsForbidden)
  }
}
