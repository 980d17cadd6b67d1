// SPDX-License-Identifier: Apache-2.0

import Broker
import Foundation
import Testing

@testable import Bridge
@testable import ThreadkeeperDaemon

@Suite("What status is told of refusals")
struct DaemonStateTests {
  @Test("The longest topic that a client can choose leaves room for the rest of the record")
  func longTopic() throws {
    for letter in ["\"", "\\", "😀"] {
      let topic = String(repeating: letter, count: 1_024)
      let refused = DaemonState.Refused(
        .init(
          topics: 1, last: topic,
          problem: "the access list does not let `anna` publish to \(topic)",
          isByAccess: true))
      #expect(try JSONEncoder().encode(refused).count < 3_000)
      #expect(refused.remedy.contains("threadkeeper acl"))
    }
    let short = DaemonState.Refused(
      .init(topics: 1, last: "a/b", problem: "too large", isByAccess: false))
    #expect(short.lastTopic == "a/b" && !short.remedy.contains("acl"))
  }

  @Test("Of devices of Home Assistant, status names how to allow them and how to do without")
  func devices() {
    let topic = "homeassistant/device/a/config"
    let refused = DaemonState.Refused(
      RefusedDevices(.device(topic: topic), MosquittoError(.notAuthorized, "no"), count: 3))
    #expect(refused.topics == 3 && refused.lastTopic == topic)
    #expect(refused.remedy.contains("threadkeeper acl"))
    #expect(refused.remedy.contains("home_assistant.discovery: off"))
    let removal = RefusedDevices(
      .removal(topic: topic), MosquittoError(.notAuthorized, "no"), count: 1)
    #expect(removal.remedy.contains("mosquitto_pub"))
    let large = RefusedDevices(
      .device(topic: topic), MosquittoError(.unreachable, "too large"), count: 1)
    #expect(!large.remedy.contains("acl"))
  }
}
