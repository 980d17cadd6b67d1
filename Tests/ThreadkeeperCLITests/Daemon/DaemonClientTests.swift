// SPDX-License-Identifier: Apache-2.0

import Testing
import ThreadkeeperDaemon

@testable import ThreadkeeperCLI

@Suite("A command and the daemon that has the store")
struct DaemonClientTests {
  @Test("A store that another has is tried for, and a daemon that ends in the middle asked again")
  func orStore() async throws {
    let locked = CommandFailure(.temporary, "locked")
    var asked = 0
    let kept = try await DaemonClient.orStore(isRepeatable: true, within: .seconds(3_600)) {
      () -> String? in
      asked += 1
      if asked == 1 { throw DaemonClient.Ended() }
      return asked == 4 ? "kept" : nil
    } store: {
      throw locked
    }
    #expect(kept == "kept")
    // What must not be done twice is not.
    asked = 0
    let failure = await #expect(throws: CommandFailure.self) {
      try await DaemonClient.orStore(isRepeatable: false) { () -> String? in
        asked += 1
        throw DaemonClient.Ended()
      } store: {
        "stored"
      }
    }
    #expect(asked == 1)
    #expect(failure?.status == .temporary)
    #expect(failure?.remedy?.contains("status") == true)
  }
}
