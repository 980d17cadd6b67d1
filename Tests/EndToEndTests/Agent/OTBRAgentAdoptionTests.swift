// SPDX-License-Identifier: Apache-2.0

import Broker
import Foundation
import TestKit
import Testing

@Suite("The agent adopts a dataset", .inTurns, .timeLimit(.minutes(30)))
struct OTBRAgentAdoptionTests {
  private let place: AdoptingHome

  init() throws { place = try AdoptingHome() }

  private var directory: TemporaryDirectory { place.installation.directory }

  @Test(
    "A router that is not the leader adopts once a person agrees; its neighbours never see the key")
  func adopts() async throws {
    let audience = try await Audience.start(place.broker)
    let daemon = try await place.installation.start()
    let routers = try await ThreadRouters(3)
    let key = directory.file("router.key")
    let made = try await place.installation.clientKeygen(key)
    #expect(try await place.installation.command("clients", "enroll", "router", made).status == 0)
    let line = try await place.installation.daemonLine()
    Recorder.current?.allPublishersAreEnrolled()
    // The home, its router; the neighbours' leader, and ours among them.
    try routers.order(0, "form", place.home.hex())
    try routers.order(1, "form", place.guest.hex())
    let neighbour = try routers.seen(1)
    func agent(_ router: Int) throws -> AgentProcess {
      try AgentProcess(
        .otbr, [routers.url(router)], user: "router", broker: place.broker, in: directory, "--key",
        key,
        "--daemon", line, "--adopt")
    }
    let hub = try agent(0)
    try await audience.until("the preferred network") {
      $0.events("preferred_changed").count == 1
    }
    let id = try routers.order(2, "form", place.guest.hex()).agent
    try routers.order(2, "set", "attach_seconds 2")
    let ours = try agent(2)
    let topic = "threadkeeper/router/\(id)"
    try await audience.until("the mismatch") { $0.state(topic)?["preferred"] == "mismatch" }
    try await place.approve()
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
    #expect(try routers.changes(0) == [])
    #expect(try routers.seen(1) == neighbour && routers.changes(1).isEmpty)
    #expect(try routers.get(1, "/node/state") == "leader")
    #expect(hub.end() == .exit(0) && ours.end() == .exit(0))
    #expect(ours.output.contains("it is on network \(place.home.extendedPANID)"), "\(ours.output)")
    var needles = Needles()
    needles.add("network key", place.home.networkKey)
    #expect(needles.found(in: Data((ours.output + hub.output).utf8)) == [])
    #expect(try await daemon.stop() == .exit(0))
  }

  /// An agent of an enrolled router whose daemon is the test itself.
  private struct Scene {
    let routers: ThreadRouters
    let id: String
    let audience: Audience
    let publisher: TestPublisher
    let keeper: Identity
    let reader: PublicIdentity
    let agent: AgentProcess
    let topic = "threadkeeper/out/router/dataset/set"

    func order(_ dataset: String, id: String? = nil, by sender: Identity? = nil) async throws {
      let name = "a-\(UInt64.random(in: 0 ... .max))"
      let body = #"{"border_agent_id":"\#(id ?? self.id)","dataset":"\#(dataset)","id":"\#(name)"}"#
      let envelope = try Envelope.seal(
        Array(body.utf8), to: reader, from: sender ?? keeper,
        at: .init(
          topic: topic, order: .identifier(name), now: Int64(Date().timeIntervalSince1970),
          lifetime: 300))
      try await publisher.publish([
        Publication(
          topic: topic, payload: Array(#"{"sealed":"#.utf8) + envelope + Array(#","v":1}"#.utf8))
      ])
    }

    /// How many `dataset` events it has published.
    var reports: Int {
      audience.look { $0.messages.count { $0.topic == "threadkeeper/in/router/dataset" } }
    }
  }

  private func start(_ count: Int = 1) async throws -> Scene {
    Recorder.current?.allPublishersAreEnrolled()
    let audience = try await Audience.start(place.broker)
    let publisher = try await TestPublisher.start(place.broker)
    let routers = try await ThreadRouters(count)
    var id = ""
    for router in (0..<count).reversed() {
      id = try routers.order(router, "form", place.guest.hex()).agent
    }
    let key = directory.file("router.key")
    let reader = try PublicIdentity(line: try await place.installation.clientKeygen(key))
    let keeper = try Identity()
    let agent = try AgentProcess(
      .otbr, [routers.url(0)], user: "router", broker: place.broker, in: directory, "--key", key,
      "--daemon", keeper.keys.line, "--adopt")
    // The subscriptions are made with the connection, before anything is published on it.
    try await audience.until("the announcement") {
      $0.messages.contains { $0.topic == "threadkeeper/in/router/announce" }
    }
    return Scene(
      routers: routers, id: id, audience: audience, publisher: publisher, keeper: keeper,
      reader: reader, agent: agent)
  }

  @Test("Only the daemon's signature counts, and only for the router's own id")
  func signatures() async throws {
    let scene = try await start()
    try await scene.order(place.home.hex(), by: Identity())
    try await eventually("the refusal") { scene.agent.output.contains("unknown_issuer") }
    try await scene.order(place.home.hex(), id: String(repeating: "9", count: 32))
    try await scene.publisher.publish([
      Publication(
        topic: scene.topic,
        payload: Array(#"{"border_agent_id":"\#(scene.id)","dataset":"00","id":"a-1"}"#.utf8))
    ])
    try await eventually("the plain one") { scene.agent.output.contains("it is not sealed") }
    #expect(try scene.routers.changes(0) == [])
    #expect(try scene.routers.get(0, "/node/ext-panid") == place.guest.extendedPANID)
    #expect(scene.agent.end() == .exit(0))
  }

  @Test("A newer dataset of its own network is pending, complete, and changes all of that network")
  func pending() async throws {
    let scene = try await start(2)
    for router in 0..<2 { try scene.routers.order(router, "set", "delay_scale 0.02") }
    try await scene.order(place.guest.hex(at: 5, channel: 25))
    try await eventually("the change") {
      scene.agent.output.contains("its whole network changes in 60 s") && scene.reports >= 1
    }
    try await eventually("the end") {
      scene.agent.output.contains("it is on network \(place.guest.extendedPANID)")
    }
    #expect(try scene.routers.changes(0) == ["PUT /node/dataset/pending 201"])
    for router in 0..<2 {
      #expect(try scene.routers.seen(router).count == 2)
      #expect(try scene.routers.get(router, "/node/dataset/pending") == "")
    }
    #expect(scene.agent.end() == .exit(0))
  }

  @Test("An order waits while another change is pending, then it is carried out, and reported once")
  func pendingChange() async throws {
    let scene = try await start(2)
    // Not the leader.
    try scene.routers.order(0, "set", "mgmt_seconds 8")
    try scene.routers.order(0, "mgmt_set", place.guest.hex(at: 5, channel: 25))
    try #require(try scene.routers.get(0, "/node/dataset/pending") != "")
    let reports = scene.reports
    try await scene.order(place.home.hex())
    try await eventually("the reason") {
      scene.agent.output.contains("an order waits: a change to another dataset is pending")
    }
    #expect(try scene.routers.changes(0) == [])
    try await eventually("the end") {
      scene.agent.output.contains("it is on network \(place.home.extendedPANID)")
    }
    #expect(try scene.routers.seen(1).count == 2)
    #expect(try scene.routers.get(1, "/node/dataset/pending") == "")
    #expect(scene.agent.end() == .exit(0))
    #expect(!scene.agent.output.contains("Thread is stopped on it"))
    #expect(try scene.routers.changes(0).count == 3)
    // What has landed meanwhile is no answer to the order.
    try await scene.audience.caughtUp()
    #expect(scene.reports <= reports + 2)
  }

  @Test("A stop while a router is put back ends when it is as it was")
  func stopWhileRestoring() async throws {
    let scene = try await start()
    try scene.routers.order(0, "fail", "PUT /node/dataset/active 500")
    try await scene.order(place.home.hex())
    try await eventually("the failure") { scene.agent.output.contains("it is put back") }
    #expect(scene.agent.end() == .exit(0))
    #expect(scene.agent.output.contains("it has its previous dataset, and Thread as before"))
    #expect(try scene.routers.get(0, "/node/state") != "disabled")
    #expect(try scene.routers.get(0, "/node/ext-panid") == place.guest.extendedPANID)
  }
}
