// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing

/// From the mismatch to the router on the preferred network, with its neighbours as witnesses.
@Suite("A router is moved over REST, and nobody with it", .inTurns, .timeLimit(.minutes(30)))
struct RESTAdoptionTests {
  private let place: AdoptingHome

  init() throws { place = try AdoptingHome() }

  @Test("A router that is not the leader adopts; its neighbours stay, and never see the key")
  func neighbours() async throws {
    let audience = try await Audience.start(place.broker)
    let daemon = try await place.installation.start()
    let routers = try await ThreadRouters(3)
    let line = try #require(
      try await place.installation.json("clients", "fingerprint")["line"]?.text)
    let key = place.installation.directory.file("router.key")
    let made = try await place.installation.clientKeygen(key)
    #expect(try await place.installation.command("clients", "enroll", "router", made).status == 0)
    Recorder.current?.allPublishersAreEnrolled()
    var variables = [
      "HOME": place.installation.directory.path, "CLIENT_KEY": key, "DAEMON_LINE": line,
      "MQTT_USERNAME": "router", "MQTT_HOST": "127.0.0.1", "MQTT_PORT": "\(place.broker.port)",
      "REQUEST_SECONDS": "5",
    ]
    // The home, its router; the neighbours' leader, and ours among them.
    try routers.order(0, "form", place.home.hex())
    try routers.order(1, "form", place.guest.hex())
    let neighbour = try routers.seen(1)
    let agent = try routers.order(2, "form", place.guest.hex()).agent
    try routers.order(2, "set", "attach_seconds 2")
    let hub = try await Program.example(
      "border-router.sh", ["announce", "--otbr", routers.url(0)], variables)
    #expect(hub.status == 0, "\(hub.output)")
    let watch = try WatchScript(
      "sealed-router/watch.sh", ["--otbr", routers.url(2)], in: place.installation.directory,
      variables)
    let topic = "threadkeeper/router/\(agent)"
    try await audience.until("the mismatch") { $0.state(topic)?["preferred"] == "mismatch" }
    #expect(try routers.get(2, "/node/state") == "router")
    variables["ANSWER_SECONDS"] = "20"
    async let adopting = Program.example(
      "sealed-router/adopt.sh", ["--once", "--otbr", routers.url(2), agent], variables)
    try await place.approve()
    let done = try await adopting
    #expect(done.status == 0, "\(done.output)")
    #expect(done.output.contains("is on network \(place.home.extendedPANID)"))
    try await audience.until("the match, attached") {
      let state = $0.state(topic)
      return state?["preferred"] == "match" && state?["adoption"] == nil
        && state?["current_ext_pan_id"]?.text == place.home.extendedPANID
        && state?["thread_state"] == "router"
    }
    #expect(
      try routers.changes(2) == [
        "PUT /node/state 200", "PUT /node/dataset/active 200", "PUT /node/state 200",
      ])
    // It was not called done before it was attached.
    let first = audience.look { heard in
      heard.messages.filter { $0.topic == topic }.compactMap {
        JSON(String(decoding: $0.payload, as: UTF8.self))
      }.first { $0["preferred"] == "match" }
    }
    #expect(first?["thread_state"] == "router")
    #expect(try routers.seen(1) == neighbour && routers.changes(1).isEmpty)
    #expect(try routers.get(1, "/node/ext-panid") == place.guest.extendedPANID)
    #expect(try routers.get(1, "/node/state") == "leader")
    #expect(watch.end() == .exit(143))
    var needles = Needles()
    needles.add("network key", place.home.networkKey)
    #expect(needles.found(in: Data((done.output + watch.output).utf8)) == [])
    #expect(try await daemon.stop() == .exit(0))
  }
}
