import ThreadkeeperSupport
import Wire

/// `<prefix>/device/threadkeeper/<object id>/config`, retained: a device and its entities, for Home
/// Assistant's MQTT discovery
/// (https://www.home-assistant.io/integrations/mqtt/#device-discovery-payload).
///
/// It says where states are found and how they are read. What changes often stays on its own topics, so this is
/// published once. Buttons for a request have a topic of their own, which names the daemon's device too: Home Assistant
/// shows them there. No secret has a place here.
package struct HomeAssistantDevice: WireObject {
  package struct Device: WirePart {
    package var identifier: String
    package var name: String
    var manufacturer: String?
    package var model: String?
    var softwareVersion: String?
    /// The identifier of the device by which this one is reached.
    var viaDevice: String?
    /// Where people go from the device's page.
    var page: String?

    package static let sample = Device(identifier: "", name: "")

    package func fields<Coder: WireCoder>(_ c: inout Coder) {
      c.field("configuration_url", page, .text("", pattern: "^http://[^/]+/(#router/[0-9a-f]+)?$"))
      c.needed("identifiers", [DeviceID(text: identifier)], .filled("", most: 1))
      c.field("manufacturer", manufacturer, .label)
      c.field("model", model, .label)
      c.needed("name", name, .filled(""))
      c.field("sw_version", softwareVersion, .filled(""))
      c.field("via_device", viaDevice, .text("", pattern: "^threadkeeper_[A-Za-z0-9-]+$"))
    }
  }

  private struct DeviceID: WireValue {
    let text: String

    func write(to json: inout JSONWriter) { json.text(text) }

    static var form: WireForm {
      WireForm("The object id of a device.", pattern: "^threadkeeper_[A-Za-z0-9-]+(_[0-9a-f]{16}|_[0-9a-f]{32})?$")
    }
  }

  /// Who announces it; Home Assistant's log names it.
  private struct Origin: WirePart {
    let softwareVersion: String

    static let sample = Origin(softwareVersion: "")

    func fields<Coder: WireCoder>(_ c: inout Coder) {
      c.needed("name", "threadkeeper", .text("", pattern: "^threadkeeper$"))
      c.needed("sw_version", softwareVersion, .filled(""))
    }
  }

  /// A topic that says `online` while the entities can be believed.
  package struct Availability: WirePart {
    package var topic: String
    var valueTemplate = HomeAssistantTemplate.state

    package static let sample = Availability(topic: "")

    package func fields<Coder: WireCoder>(_ c: inout Coder) {
      c.needed("topic", topic, .filled(""))
      c.needed("value_template", valueTemplate, .filled(""))
    }
  }

  package var device: Device
  /// Of the program.
  package var version: String
  /// All of the topics have to say `online`.
  package var availability: [Availability]
  package var components: [String: HomeAssistantEntity]

  package func fields<Coder: WireCoder>(_ c: inout Coder) {
    c.needed("availability", availability, .availability)
    c.needed("availability_mode", "all", .text("", pattern: "^all$"))
    c.needed("components", components, WireForm("Entities by their keys.", least: 1, pattern: "^[a-z_]+$"))
    c.needed("device", device, "What people see.")
    c.needed("origin", Origin(softwareVersion: version), "Who announces it.")
    c.needed("qos", 1, WireForm("", least: 1, most: 1))
  }
}

extension HomeAssistantDevice {
  /// What is known of a border router that does not change from day to day.
  package struct Router: Hashable, Sendable {
    package var agent: String
    package var name: String?
    package var vendor: String?
    package var model: String?
    /// Whether only its record on the local network says that it is there: no login reports its dataset.
    package var isOnlySeen = false

    package init(
      agent: String, name: String? = nil, vendor: String? = nil, model: String? = nil, isOnlySeen: Bool = false
    ) {
      self.agent = agent
      self.name = name
      self.vendor = vendor
      self.model = model
      self.isOnlySeen = isOnlySeen
    }
  }

  /// The daemon, as far as it is about one home.
  ///
  /// - Parameter login: of Home Assistant, where it decides about something.
  package static func bridge(_ place: HomeAssistantPlace, login: String? = nil) -> HomeAssistantDevice {
    var device = HomeAssistantDevice(
      device: Device(
        identifier: place.bridgeID, name: place.bridgeName, manufacturer: "threadkeeper",
        model: "Thread credential keeper", softwareVersion: place.version, page: place.page), version: place.version,
      availability: availability(place), components: place.bridgeEntities)
    device.addAlertButtons(login: login, place)
    return device
  }

  /// A border router. Its texts are whatever its publisher has sent.
  ///
  /// - Parameter login: of Home Assistant, where it decides about adoptions.
  package static func router(_ router: Router, _ place: HomeAssistantPlace, login: String? = nil) -> HomeAssistantDevice
  {
    let described = self.device(of: router, place)
    var device = HomeAssistantDevice(
      device: described, version: place.version, availability: availability(place),
      components: place.entities(ofRouter: router.agent, named: described.name))
    // Home Assistant keeps a component that is only left out.
    device.components["ask_again"] =
      login.map { device.askAgain(router.agent, login: $0, place) } ?? HomeAssistantEntity(removed: .button)
    if router.isOnlySeen {
      // What nobody reports of it would stay unknown.
      for (key, entity) in device.components where !HomeAssistantPlace.entitiesOfSeen.contains(key) {
        device.components[key] = HomeAssistantEntity(removed: entity.platform)
      }
    }
    return device
  }

  static func device(of router: Router, _ place: HomeAssistantPlace) -> Device {
    Device(
      identifier: "\(place.bridgeID)_\(router.agent)", name: visible(router.name) ?? "Border router \(router.agent)",
      manufacturer: visible(router.vendor), model: visible(router.model), viaDevice: place.bridgeID,
      page: place.page.map { "\($0)#router/\(router.agent)" })
  }

  private static func visible(_ text: String?) -> String? {
    text.flatMap { $0.contains { !$0.isWhitespace } ? $0 : nil }
  }

  /// Only the first home's topic has the last will, so the others need both.
  private static func availability(_ place: HomeAssistantPlace) -> [Availability] {
    let bases = place.home.base == place.firstBase ? [] : [place.firstBase]
    return ([place.home.base] + bases).map { Availability(topic: OutboundTopic(base: $0).state) }
  }
}
