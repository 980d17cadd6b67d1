import Broker
import Foundation
import TestKit
import Testing

/// Orders that are not the daemon's, that wait, or that come twice: `AdoptionOrderTests`, `OrderBookTests`; all that
/// can become of one: `AdoptionMachineTests`.
@Suite("The agent adopts a dataset", .inTurns, .timeLimit(.minutes(30))) struct OTBRAgentAdoptionTests {
  private let home: ThreadNetwork
  private let guest: ThreadNetwork

  init() throws {
    Recorder.current?.allPublishersAreEnrolled()
    home = try ThreadNetwork("home-thread")
    guest = try ThreadNetwork("guest-thread")
  }

  @Test("A router that is not the leader adopts once a person agrees; its neighbours never see the key") func adopts()
    async throws
  {
    let running = try await RunningHome(more: AdoptingHome.settings)
    let installation = running.installation
    let routers = try await ThreadRouters(3)
    let key = try await installation.enrolledKey(of: "router")
    let line = try await installation.daemonLine()
    // The home, its router; the neighbours' leader, and ours among them.
    try routers.order(0, "form", home.hex())
    try routers.order(1, "form", guest.hex())
    let neighbour = try routers.seen(1)
    func agent(_ router: Int) throws -> AgentProcess {
      try AgentProcess(
        .otbr, [routers.url(router)], user: "router", broker: running.broker, in: installation.directory, "--key", key,
        "--daemon", line, "--adopt")
    }
    let hub = try agent(0)
    try await running.until("the preferred network") { $0.events("preferred_changed").count == 1 }
    let id = try routers.order(2, "form", guest.hex()).agent
    try routers.order(2, "set", "attach_seconds 2")
    let ours = try agent(2)
    let topic = "threadkeeper/router/\(id)"
    try await running.until("the mismatch") { $0.state(topic)?["preferred"] == "mismatch" }
    try await installation.decide("approve")
    try await running.until("the match, attached") {
      let state = $0.state(topic)
      return state?["preferred"] == "match" && state?["adoption"] == nil
        && state?["current_ext_pan_id"]?.text == home.extendedPANID && state?["thread_state"] == "router"
    }
    #expect(try routers.changes(2) == ["PUT /node/state 200", "PUT /node/dataset/active 200", "PUT /node/state 200"])
    #expect(try routers.changes(0) == [])
    #expect(try routers.seen(1) == neighbour && routers.changes(1).isEmpty)
    #expect(try routers.get(1, "/node/state") == "leader")
    #expect(hub.end() == .exit(0) && ours.end() == .exit(0))
    #expect(ours.output.contains("it is on network \(home.extendedPANID)"), "\(ours.output)")
    var needles = Needles()
    needles.add(home)
    #expect(needles.found(in: ours.output + hub.output) == [])
    running.audience.look { heard in
      for message in heard.messages where message.topic.hasPrefix("threadkeeper/in/router/") {
        #expect(String(decoding: message.payload, as: UTF8.self).hasPrefix(#"{"sealed""#))
      }
    }
    try await running.stop()
  }

  /// An agent of an enrolled router whose daemon is the test itself.
  private struct Scene {
    let routers: ThreadRouters
    let audience: Audience
    let agent: AgentProcess
    /// Another run of the agent, with the same state.
    let restart: @Sendable () throws -> AgentProcess
    private let id: String
    private let publisher: TestPublisher
    private let daemon: Identity
    private let reader: String
    private let directory: TemporaryDirectory

    init(_ count: Int, on network: ThreadNetwork) async throws {
      let broker = try TestBroker()
      directory = try TemporaryDirectory()
      audience = try await Audience.start(broker)
      publisher = try await TestPublisher.start(broker)
      routers = try await ThreadRouters(count)
      for router in (1..<count).reversed() { try routers.order(router, "form", network.hex()) }
      id = try routers.order(0, "form", network.hex()).agent
      let key = directory.file("router.key")
      let made = try await ThreadkeeperBinary.run("client", "keygen", "--out", key, "--json")
      reader = try #require(JSON(made.output)?["line"]?.text, "\(made.error)")
      daemon = try Identity()
      let (url, line, home) = (routers.url(0), daemon.keys.line, directory)
      restart = {
        try AgentProcess(
          .otbr, [url], user: "router", broker: broker, in: home, "--key", key, "--daemon", line, "--adopt")
      }
      agent = try restart()
      // The subscriptions are made with the connection, before anything is published on it.
      try await audience.until("the announcement") {
        $0.messages.contains { $0.topic == "threadkeeper/in/router/announce" }
      }
    }

    var hasNote: Bool {
      FileManager.default.fileExists(atPath: directory.file(".local/state/threadkeeper/agent-adoption-\(id)"))
    }

    func order(_ dataset: String) async throws {
      let name = "a-\(UInt64.random(in: 0 ... .max))"
      try await publisher.publish([
        daemon.seals(
          #"{"border_agent_id":"\#(id)","dataset":"\#(dataset)","id":"\#(name)"}"#, to: reader,
          at: "threadkeeper/out/router/dataset/set", id: name, #","v":1"#)
      ])
    }
  }

  @Test("A newer dataset of its own network is pending, complete, and changes all of that network") func pending()
    async throws
  {
    let scene = try await Scene(2, on: guest)
    for router in 0..<2 { try scene.routers.order(router, "set", "delay_scale 0.02") }
    try await scene.order(guest.hex(at: 5, channel: 25))
    try await eventually("the change, and its report") {
      scene.agent.output.contains("its whole network changes in 60 s")
        && scene.audience.look { heard in heard.messages.contains { $0.topic == "threadkeeper/in/router/dataset" } }
    }
    try await eventually("the end") { scene.agent.output.contains("it is on network \(guest.extendedPANID)") }
    #expect(try scene.routers.changes(0) == ["PUT /node/dataset/pending 201"])
    for router in 0..<2 {
      #expect(try scene.routers.seen(router).count == 2)
      #expect(try scene.routers.get(router, "/node/dataset/pending") == "")
    }
    #expect(scene.agent.end() == .exit(0))
  }

  @Test("An agent that is killed while Thread is disabled enables it when it runs again") func killed() async throws {
    let scene = try await Scene(1, on: guest)
    let disabled = ["PUT /node/state 200"]
    try scene.routers.order(0, "freeze_after", "PUT /node/state")
    try await scene.order(home.hex())
    try await eventually("Thread is disabled") { try scene.routers.changes(0) == disabled }
    #expect(scene.hasNote)
    scene.agent.signal(SIGKILL)
    #expect(scene.agent.end() == .signal(SIGKILL))
    try scene.routers.order(0, "thaw")
    #expect(try scene.routers.get(0, "/node/state") == "disabled")
    let second = try scene.restart()
    try await eventually("the note is gone") { !scene.hasNote }
    #expect(try scene.routers.get(0, "/node/state") != "disabled")
    #expect(try scene.routers.get(0, "/node/ext-panid") == guest.extendedPANID)
    #expect(try scene.routers.changes(0) == disabled + disabled)
    #expect(second.end() == .exit(0))
    #expect(second.output.contains("an adoption was not finished"))
  }

  @Test("A stop while a router is put back ends when it is as it was") func stopWhileRestoring() async throws {
    let scene = try await Scene(1, on: guest)
    try scene.routers.order(0, "fail", "PUT /node/dataset/active 500")
    try await scene.order(home.hex())
    try await eventually("the failure") { scene.agent.output.contains("it is put back") }
    #expect(scene.agent.end() == .exit(0))
    #expect(scene.agent.output.contains("it has its previous dataset, and Thread as before"))
    #expect(try scene.routers.get(0, "/node/state") != "disabled")
    #expect(try scene.routers.get(0, "/node/ext-panid") == guest.extendedPANID)
  }
}
