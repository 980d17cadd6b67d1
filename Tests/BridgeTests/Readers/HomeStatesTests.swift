import Broker
import Foundation
import Testing
import ThreadRequests
import Wire

@testable import Bridge
@testable import Home

@Suite("States in lists") struct HomeStatesTests {
  /// All kinds of routers, in the order in which they came; 4 has left.
  private func scene() -> PublishingScene {
    var scene = PublishingScene()
    scene.publish(.announce, 2, .of(1, at: 5, name: "net")) {
      $0.name = "Living room"
      $0.vendor = "Acme"
      $0.extendedAddress = 0x12
      $0.accessPoint = "ap"
      $0.ssid = "wifi"
    }
    scene.publish(.announce, 1, .of(2, channel: 0x2_000F)) {
      $0.thread.state = .leader
      $0.thread.network = .init(number: 2)
    }
    scene.publish(.announce, 4, .of(1))
    scene.publish(.announce, 3)
    scene.publish(.offline, 3) { $0.offlineReason = .frozen }
    scene.publish(.leave, 4)
    var seen = Advertisement([.init(high: 9, low: 1)])
    seen?.network = .init(number: 3)
    seen?.networkName = "guest"
    seen?.activeSeconds = 7
    seen?.partition = 4
    seen?.threadVersion = "1.4.0"
    if let seen { scene.handle(.sightings(Sightings([seen]))) }
    scene.tick(after: 31)
    return scene
  }

  @Test("Routers are those on the list, as they are published, in the order in which they came") func routers() {
    let home = scene().home
    let states = home.routerStates(in: "home")
    #expect(states.map(\.router.agent.numbers.high) == [2, 1, 3, 9])
    #expect(states.map(\.verdict) == home.routers.filter(\.isPresent).map(home.verdict))
  }

  @Test("A router that was read says so, with what is pending and why it was not read last time") func read() throws {
    var scene = scene()
    scene.publish(.announce, 5, .of(3, at: 7))
    var seen = try #require(Advertisement([.init(high: 9, low: 1)]))
    seen.network = .init(number: 3)
    func read(_ outcome: ReadingResult.Outcome) throws -> JSONValue {
      let dataset = DatasetSummary.of(3, at: 7)
      let pskc = try #require(dataset.parameters?.pskc)
      scene.handle(.reading(ReadingResult(seen, of: dataset.network, pskc: pskc, outcome)))
      let router = try #require(scene.home.routers[seen.agents[0]])
      let state = RouterState(router, scene.home.verdict(of: router), in: "home")
      return try JSONDecoder().decode(JSONValue.self, from: Data(state.json()))
    }
    #expect(try read(.failed(.noAnswer))["read_problem"]?.text == "no_answer")
    let state = try read(.datasets(.of(3, at: 7), pending: .init(.of(3, at: 8, channel: 25), delay: 58_000)))
    #expect(state["source"]?.text == "meshcop" && state["credentials"]?.text == "stored")
    #expect(state["read_at"]?.text == "\(scene.now)" && state["read_problem"] == nil && state["user"] == nil)
    #expect(
      state["pending"]?["channel"]?.integer == 25 && state["pending"]?["differs"]?.array?.first?.text == "channel")
    #expect(state["pending"]?["at"]?.text == "\(scene.now.adding(seconds: 58))")
  }

  @Test("Networks are as they are published, by name") func networks() {
    let states = scene().home.networkStates(in: "home")
    #expect(states.map(\.network.name) == ["guest", "net", "net-2"])
  }

  @Test("Alerts that fire are as they are published, the newest first; with all, those that ended") func alerts() {
    var scene = scene()
    scene.publish(.announce, 5)
    scene.tick(after: 31)
    scene.publish(.announce, 3, .of(1, at: 5, name: "net"))
    for all in [false, true] {
      let states = scene.home.alertStates(in: "home", ways: .init(isOnlyHome: false), all: all)
      let wanted = scene.home.alerts.filter { $1.phase == .firing || all && $1.phase == .resolved }
      #expect(Set(states.map(\.key)) == Set(wanted.keys))
      #expect(states.map(\.alert.updatedAt) == states.map(\.alert.updatedAt).sorted(by: >))
      #expect(states.contains { $0.alert.phase == .resolved } == all)
    }
    let worst = scene.home.alertStates(in: "home", ways: .init(isOnlyHome: false), most: 1)
    #expect(worst.count == 1 && worst[0].severity != .info)
  }

  @Test("Requests are answered with the same states, and refused where there are too many") func requests() throws {
    let home = scene().home
    let alerts = home.alertStates(in: "home", ways: .init(isOnlyHome: true))
    let firing = alerts.count
    #expect(alerts.contains { $0.alert.facts.differs != nil })
    let published = [
      RequestCommand.listRouters: home.routerStates(in: "home").map { $0.jsonValue() },
      .listNetworks: home.networkStates(in: "home").map { $0.jsonValue() }, .listAlerts: alerts.map { $0.jsonValue() },
    ]
    for (command, count) in [(RequestCommand.listRouters, 4), (.listNetworks, 3), (.listAlerts, firing)] {
      let data = try home.states(command, in: "home", ways: .init(isOnlyHome: true), most: count)
      let values = try #require(data.routers ?? data.networks ?? data.alerts)
      #expect(values.count == count)
      #expect(values == published[command])
      let refusal = #expect(throws: AnswerFailure.self) {
        try home.states(command, in: "home", ways: .init(isOnlyHome: true), most: count - 1)
      }
      #expect(refusal?.known == .tooLarge)
    }
    let refusal = #expect(throws: AnswerFailure.self) {
      try home.states(.ping, in: "home", ways: .init(isOnlyHome: true))
    }
    #expect(refusal?.known == .unsupported)
  }
}
