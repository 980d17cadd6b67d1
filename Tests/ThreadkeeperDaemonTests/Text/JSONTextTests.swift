// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ThreadkeeperDaemon

@Suite("JSON for scripts")
struct JSONTextTests {
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
