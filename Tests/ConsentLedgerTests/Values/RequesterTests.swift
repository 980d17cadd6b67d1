// SPDX-License-Identifier: Apache-2.0

import ConsentLedger
import Testing

@Suite struct RequesterTests {
  @Test("A requester is described by its login name at the broker or its uid")
  func words() {
    #expect(Requester.mqttUser("router 1").words == "mqtt user router 1")
    #expect(Requester.systemUser(1000).words == "uid 1000")
  }
}
