// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The shipped `mosquitto.conf` and `acl.conf` in a real broker.
@Suite(.serialized)
struct BrokerConfigurationTests {
  @Test("Mosquitto starts with the configuration alone, and inside Debian's own")
  func starts() throws {
    for included in [false, true] {
      let broker = try ConfiguredBroker(users: ["threadkeeper"], included: included)
      #expect(try broker.allows("threadkeeper", publish: "threadkeeper/bridge/state"))
      for complaint in ["Error", "Warning", "deprecated"] {
        #expect(!broker.readLog().contains(complaint), "\(broker.readLog())")
      }
    }
  }

  @Test("The access list lets everyone speak for themselves and nobody for another")
  func writing() throws {
    let broker = try ConfiguredBroker(users: ["threadkeeper", "hub", "other", "monitor"])
    for (user, topic, isAllowed) in [
      ("hub", "in/hub/announce", true), ("hub", "in/other/announce", false),
      ("hub", "in/hubbub/announce", false), ("hub", "out/hub/x", false),
      ("hub", "bridge/state", false), ("hub", "router/a/availability", false),
      ("other", "in/other/request/ping", true), ("monitor", "in/monitor/announce", false),
      ("monitor", "in/hub/announce", false), ("monitor", "bridge/state", false),
      ("monitor", "router/a", false), ("threadkeeper", "bridge/state", true),
      ("threadkeeper", "out/hub/response/ping", true), ("threadkeeper", "router/a", true),
    ] {
      #expect(
        try broker.allows(user, publish: "threadkeeper/" + topic) == isAllowed, "\(user) \(topic)")
    }
    for (user, isAllowed) in [("monitor", true), ("hub", false), ("threadkeeper", false)] {
      #expect(try broker.allows(user, publish: "homeassistant/status") == isAllowed, "\(user)")
    }
    for (user, isAllowed) in [("threadkeeper", true), ("monitor", false), ("hub", false)] {
      #expect(
        try broker.allows(user, publish: "homeassistant/device/threadkeeper/a/config") == isAllowed,
        "\(user)")
    }
    #expect(try !broker.allows("hub", publish: "elsewhere"))
    #expect(try !broker.allows("nobody", publish: "threadkeeper/in/nobody/announce"))
  }

  @Test("The monitor sees states but no credentials; a router sees only what is meant for it")
  func reading() throws {
    let broker = try ConfiguredBroker(users: ["threadkeeper", "hub", "other", "monitor"])
    let topics = [
      "in/hub/announce", "in/monitor/announce", "out/hub/response/x", "out/monitor/response/x",
      "out/other/response/x", "router/a1b2",
    ].map { "threadkeeper/" + $0 }
    #expect(try broker.firstTopic(reaching: "threadkeeper", of: topics) == topics.first)
    #expect(try broker.firstTopic(reaching: "monitor", of: topics) == topics.last)
    #expect(try broker.firstTopic(reaching: "hub", of: topics) == "threadkeeper/out/hub/response/x")
    #expect(
      try broker.firstTopic(reaching: "other", of: topics) == "threadkeeper/out/other/response/x")
  }
}
