// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Settings

struct NearestNameTests {
  @Test("One slip is forgiven, a new word is not")
  func nearest() {
    let names = ["host", "port", "username", "password", "client_id", "base_topic"]
    for (word, name) in [
      ("hots", "host"), ("hst", "host"), ("hosst", "host"), ("HOST", "host"),
      ("passwd", "password"), ("pasword", "password"), ("base-topic", "base_topic"),
      ("clientid", "client_id"), ("user", "username"), ("topic", "base_topic"),
      ("mqtt_host", "host"), ("poort", "port"),
    ] {
      #expect(NearestName.nearest(to: word, among: names) == name, "\(word)")
    }
    for word in ["", "x", "keepalive", "qos", "zzzzzzzz", "retain"] {
      #expect(NearestName.nearest(to: word, among: names) == nil, "\(word)")
    }
    #expect(NearestName.nearest(to: String(repeating: "x", count: 100_000), among: names) == nil)
    #expect(NearestName.nearest(to: "host", among: []) == nil)
  }
}
