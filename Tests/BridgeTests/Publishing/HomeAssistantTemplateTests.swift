import Foundation
import Testing
import ThreadDataset

@testable import Bridge
@testable import Broker
@testable import Home

/// What the templates read is there under that name. Home Assistant renders a wrong name as nothing, and says nothing.
@Suite("The templates for Home Assistant") struct HomeAssistantTemplateTests {
  private static let agent = "a1b2c3d4e5f60718"
  private static let request = "c-0123456789abcdef"

  /// One full value of everything that is read, by topic.
  private func states() throws -> [String: Any] {
    let now = WireTime(milliseconds: 1_795_429_312_000)
    let agent = try #require(BorderAgentID(hex: Self.agent))
    var router = Router(agent, at: now)
    router.dataset = .of(1, name: "home")
    router.adoption = Adoption(.denied)
    router.datasetChangedAt = now
    let topics = BaseTopics([.init(name: "home", base: "tk")])
    let info = BridgeInfo(
      settings: PublisherSettings(topics), own: HomeSettings(), name: "home", preferred: .of(1),
      protection: Home(rules: HomeRules { 1 }).protection, routers: 1, networks: 1)
    let question = ConsentQuestion(
      id: ConsentID(1), requester: Requester(.login("a"), team: "a"), subject: ConsentSubject(.adopt, []),
      createdAt: now, expiresAt: now, replies: [], keyHasChanged: false)
    let consent = ConsentState(
      waiting: [question], asked: [.init(id: Self.request, message: "m", expiresAt: now, token: "t")])
    let alert = AlertState.sample
    let overview = AlertsState([alert.key: alert.alert], in: "home", ways: .init(isOnlyHome: true))
    var status = DaemonStatus()
    (status.lastBackup, status.counts.credentialsReadAt) = (now, now)
    return try [
      "tk/bridge/health": BridgeHealth(status: status).json(), "tk/bridge/state": BridgeState.online,
      "tk/bridge/info": info.json(), "tk/bridge/consent": consent.json(), "tk/bridge/alerts": overview.json(),
      "tk/alert/f": alert.json(), "tk/router/\(Self.agent)": RouterState(router, .match, in: "home").json(),
      "tk/router/\(Self.agent)/availability": RouterAvailability.online,
    ].mapValues { try JSONSerialization.jsonObject(with: Data($0)) }
  }

  private func value(_ path: Substring, in state: Any?) -> Any? {
    path.split(separator: ".").reduce(state) { ($0 as? [String: Any])?[String($1)] }
  }

  /// Each template with the topic that it reads.
  private func templates() throws -> [(topic: String, template: String)] {
    let topics = BaseTopics([.init(name: "home", base: "tk")])
    let place = try #require(HomeAssistantPlace(home: "home", in: topics, prefix: "homeassistant", version: "1"))
    let devices: [HomeAssistantDevice] = [
      .bridge(place, login: "ha"), .question(Self.request, by: "hub", ("ha", "t"), place),
      .dispute("p", since: .init(milliseconds: 1), alert: "tk/alert/f", ("ha", "t"), place),
      .router(.init(agent: Self.agent), place, login: "ha"), .router(.init(agent: Self.agent, isOnlySeen: true), place),
    ]
    var found: [(topic: String, template: String)] = []
    func add(_ topic: String?, _ template: String?) { if let template { found.append((topic ?? "", template)) } }
    for device in devices {
      for one in device.availability { add(one.topic, one.valueTemplate) }
      for entity in device.components.values {
        add(entity.stateTopic, entity.valueTemplate)
        add(entity.attributesTopic, entity.attributesTemplate)
        for one in entity.availability ?? [] { add(one.topic, one.valueTemplate) }
      }
    }
    return found
  }

  @Test("Every field that a template reads is in the state of its topic") func fields() throws {
    let states = try states()
    var read: Set<String> = []
    for (topic, template) in try templates() {
      let state = try #require(states[topic], "\(topic) is not published")
      let paths = template.matches(of: /value_json\.([a-z_]+(\.[a-z_]+)*)/).map(\.output.1)
      #expect(!paths.isEmpty, "\(template)")
      for path in paths {
        #expect(value(path, in: state) != nil, "\(path) on \(topic)")
        read.insert(String(path))
      }
      guard let alerts = value("alerts", in: state) as? [[String: Any]] else { continue }
      for match in template.matches(of: /[^a-z_]alert\.([a-z_]+)/) {
        #expect(alerts[0][String(match.output.1)] != nil, "\(match.output.1)")
      }
    }
    #expect(read.isSuperset(of: ["state", "preferred", "networks", "preferred_network.network_name"]))
  }

  @Test("Every template copes with the empty payload of a state that was removed") func removed() throws {
    for (_, template) in try templates() { #expect(template.contains("if value_json is defined"), "\(template)") }
  }

  @Test("A comparison is a problem, none or unknown, for each value that is published") func mismatch() {
    for (published, shown) in [("match", "OFF"), ("mismatch", "ON")] {
      #expect(HomeAssistantTemplate.mismatch.contains("'\(published)': '\(shown)'"))
    }
    #expect(!HomeAssistantTemplate.mismatch.contains("'none'"))
  }
}
