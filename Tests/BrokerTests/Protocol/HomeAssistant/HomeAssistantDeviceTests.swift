import Foundation
import Testing
import ThreadDataset
import Wire

@testable import Broker

@Suite("A device of Home Assistant") struct HomeAssistantDeviceTests {
  private static let agent = "a1b2c3d4e5f60718"
  private static let router = HomeAssistantDevice.Router(
    agent: agent, name: "Living room", vendor: "ACME", model: "Hub 2")

  private func place(_ home: String = "home", _ homes: [(String, String)] = [("home", "tk")]) throws
    -> HomeAssistantPlace
  {
    let topics = BaseTopics(homes.map { .init(name: $0.0, base: $0.1) })
    return try #require(HomeAssistantPlace(home: home, in: topics, prefix: "homeassistant", version: "1.2"))
  }

  private func json(_ value: some WireObject) throws -> [String: Any] {
    let data = Data(value.json())
    return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
  }

  private func components(_ device: HomeAssistantDevice) throws -> [String: [String: Any]] {
    let all = try #require(try json(device)["components"] as? [String: [String: Any]])
    // What is removed has nothing else.
    return all.filter { Set($0.value.keys) != ["platform"] }
  }

  private var both: [HomeAssistantDevice] { get throws { [.bridge(try place()), .router(Self.router, try place())] } }

  private func texts(_ object: Any?) throws -> [String: String] {
    try #require(object as? [String: Any]).mapValues { "\($0)" }
  }

  @Test("It has at its root only what Home Assistant takes there, with an origin and an identifier") func root() throws
  {
    let (bridge, router) = (try json(both[0]), try json(both[1]))
    for object in [bridge, router] {
      #expect(Set(object.keys) == ["device", "origin", "components", "availability", "availability_mode", "qos"])
      #expect(try texts(object["origin"]) == ["name": "threadkeeper", "sw_version": "1.2"])
    }
    #expect(
      try texts(router["device"]) == [
        "name": "Living room", "manufacturer": "ACME", "model": "Hub 2",
        "identifiers": "[\"threadkeeper_tk_\(Self.agent)\"]", "via_device": "threadkeeper_tk",
      ])
    #expect(
      try texts(bridge["device"]) == [
        "name": "Threadkeeper", "manufacturer": "threadkeeper", "model": "Thread credential keeper",
        "identifiers": "[\"threadkeeper_tk\"]", "sw_version": "1.2",
      ])
  }

  @Test("Both devices link to the page where it can be opened, a router's to its own part of it") func page() throws {
    var place = try place()
    let page = "http://keeper.home.arpa:8423/"
    place.page = page
    for (device, link) in [
      (HomeAssistantDevice.bridge(place), page), (.router(Self.router, place), "\(page)#router/\(Self.agent)"),
    ] { #expect(try texts(json(device)["device"])["configuration_url"] == link) }
  }

  @Test("Every entity has a platform, a name in sentence case, an id of its own and a topic of its home")
  func entities() throws {
    var ids: Set<String> = []
    for device in try both {
      for (key, entity) in try components(device) {
        let platform = try #require(entity["platform"] as? String)
        #expect(["sensor", "binary_sensor", "event"].contains(platform))
        #expect(ids.insert(try #require(entity["unique_id"] as? String)).inserted)
        let name = try #require(entity["name"] as? String)
        #expect(name.first?.isUppercase == true, "\(key)")
        #expect((entity["default_entity_id"] as? String)?.hasPrefix("\(platform).") == true)
        #expect((entity["state_topic"] as? String)?.hasPrefix("tk/") == true)
        #expect([nil, "diagnostic"].contains(entity["entity_category"] as? String))
        // The device class brings an icon of its own.
        let icon = entity["icon"] as? String
        #expect(icon?.hasPrefix("mdi:") ?? (entity["device_class"] != nil), "\(key)")
        #expect((platform == "event") == (entity["value_template"] == nil), "\(key)")
        #expect((platform == "event") == (entity["event_types"] != nil), "\(key)")
      }
    }
    #expect(ids.count == 9 + 8)
    let router = try components(try both[1])
    #expect(router["channel"]?["default_entity_id"] as? String == "sensor.living_room_channel")
    #expect(router["ext_pan_id"]?["enabled_by_default"] as? Bool == false)
    let credentials = try #require(router["credentials"])
    #expect(credentials["options"] as? [String] == ["stored", "missing", "stale", "conflict", "shared", "partial"])
    #expect(credentials["state_class"] == nil)
  }

  @Test("The daemon's own connectivity has no availability, so that it is off and not unavailable") func connectivity()
    throws
  {
    let entity = try #require(try components(try both[0])["connectivity"])
    #expect((entity["availability"] as? [Any])?.isEmpty == true)
    #expect(try components(try both[1])["connectivity"]?["availability"] == nil)
  }

  @Test("When a backup was made and credentials were read are times, of what the daemon says of itself") func times()
    throws
  {
    let entities = try components(.bridge(try place("cabin", [("home", "tk"), ("cabin", "lets/cabin")])))
    for key in ["last_backup", "credentials_read"] {
      let entity = try #require(entities[key])
      #expect(
        entity["device_class"] as? String == "timestamp" && entity["state_topic"] as? String == "tk/bridge/health")
    }
  }

  @Test("The events are those that the daemon publishes on the topic") func events() throws {
    let alert = try #require(try components(try both[0])["alert"]?["event_types"] as? [String])
    #expect(alert == ["alert_raised", "alert_updated", "alert_resolved"])
    let events = try #require(try components(try both[1])["event"]?["event_types"] as? [String])
    #expect(Set(events) == Set(OutboundEventKind.ofRouters.map(\.rawValue)))
  }

  @Test("Entities of a further home also need the topic that has the last will") func availability() throws {
    let homes = [("home", "tk"), ("cabin", "lets/cabin")]
    func topics(_ device: HomeAssistantDevice) -> [String] { device.availability.map(\.topic) }
    #expect(topics(.bridge(try place("home", homes))) == ["tk/bridge/state"])
    let cabin = HomeAssistantDevice.router(Self.router, try place("cabin", homes))
    #expect(topics(cabin) == ["lets/cabin/bridge/state", "tk/bridge/state"])
    #expect(try json(cabin)["availability_mode"] as? String == "all")
    let bridge = HomeAssistantDevice.bridge(try place("cabin", homes))
    #expect(bridge.device.name == "Threadkeeper cabin")
    #expect(bridge.components["connectivity"]?.stateTopic == "tk/bridge/state")
  }

  @Test("A router that is only seen has no entity that would stay unknown; what it had is removed") func onlySeen()
    throws
  {
    var router = Self.router
    let whole = HomeAssistantDevice.router(router, try place())
    router.isOnlySeen = true
    let device = HomeAssistantDevice.router(router, try place())
    #expect(Set(try components(device).keys) == ["connectivity", "mismatch", "network_name", "ext_pan_id"])
    let all = try #require(try json(device)["components"] as? [String: [String: Any]])
    for (key, entity) in whole.components where device.components[key] == nil {
      #expect(all[key] as? [String: String] == ["platform": entity.platform.rawValue], "\(key)")
    }
    // Also of what is only seen it is unknown where there is nothing to compare.
    #expect(device.components["mismatch"]?.valueTemplate == HomeAssistantTemplate.mismatch)
  }

  @Test("Where nobody decides in Home Assistant, the button that asks again is withdrawn") func withdrawn() throws {
    func askAgain(_ login: String?) throws -> [String: Any]? {
      let device = HomeAssistantDevice.router(Self.router, try place(), login: login)
      return (try json(device)["components"] as? [String: [String: Any]])?["ask_again"]
    }
    #expect(try askAgain(nil) as? [String: String] == ["platform": "button"])
    #expect(try askAgain("ha")?["command_topic"] != nil)
  }

  @Test("A router whose name shows nothing is named by its id; its other texts are left out") func nameless() throws {
    let router = HomeAssistantDevice.Router(agent: Self.agent, name: " \n", vendor: "")
    let device = HomeAssistantDevice.router(router, try place())
    #expect(device.device.name == "Border router \(Self.agent)")
    #expect(device.device.manufacturer == nil && device.device.model == nil)
  }

  @Test("Home Assistant itself makes the ids of a router whose name is not in plain letters") func foreignName() throws
  {
    let router = HomeAssistantDevice.Router(agent: Self.agent, name: "K\u{FC}che")
    let device = HomeAssistantDevice.router(router, try place())
    #expect(device.components.values.allSatisfy { $0.defaultEntityID == nil })
  }
}

@Suite("Where Home Assistant finds the devices of a home") struct HomeAssistantPlaceTests {
  private func place(_ base: String) throws -> HomeAssistantPlace {
    try #require(
      HomeAssistantPlace(
        home: "home", in: BaseTopics([.init(name: "home", base: base)]), prefix: "homeassistant", version: "1"))
  }

  @Test("The topic of a device has the characters that Home Assistant allows, and a router its id") func topics() throws
  {
    let place = try place("threadkeeper/house 1")
    let id = "threadkeeper_threadkeeper-2fhouse-201"
    #expect(place.bridgeTopic == "homeassistant/device/threadkeeper/\(id)/config")
    let agent = try #require(BorderAgentID(hex: "a1b2c3d4e5f60718"))
    #expect(place.routerTopic(agent) == "homeassistant/device/threadkeeper/\(id)_a1b2c3d4e5f60718/config")
  }

  @Test("Base topics that look alike have different object ids") func injective() throws {
    let bases = [
      "a/b", "a_b", "a-b", "ab", "A/b", "a//b", "a-2fb", "a-2Fb", "a b", "\u{E9}", "e\u{301}", "a/b_a1b2c3d4e5f60718",
    ]
    let agent = try #require(BorderAgentID(hex: "a1b2c3d4e5f60718"))
    let ids = try bases.flatMap { base in
      let place = try place(base)
      return [place.bridgeID, place.routerID(agent)]
    }
    #expect(Set(ids).count == 2 * bases.count)
    let allowed = /[a-zA-Z0-9_-]+/
    for id in ids { #expect(id.wholeMatch(of: allowed) != nil, "\(id)") }
  }

  @Test("A home that is not served has no devices") func unknownHome() {
    let topics = BaseTopics([.init(name: "home", base: "a")])
    #expect(HomeAssistantPlace(home: "cabin", in: topics, prefix: "homeassistant", version: "1") == nil)
  }
}
