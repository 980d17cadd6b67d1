// SPDX-License-Identifier: Apache-2.0

import ConsentLedger
import Testing

@Suite struct RequesterTests {
  @Test("who asks is named by what the broker or the kernel says")
  func words() {
    #expect(Requester.mqttUser("router 1").words == "mqtt user router 1")
    #expect(Requester.systemUser(1000).words == "uid 1000")
  }
}
