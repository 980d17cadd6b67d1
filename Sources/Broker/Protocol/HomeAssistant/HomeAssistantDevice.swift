// SPDX-License-Identifier: Apache-2.0

import SodiumCrypto

/// `<prefix>/device/threadkeeper/<object id>/config`, retained: a device and its entities, for Home
/// Assistant's MQTT discovery
/// (https://www.home-assistant.io/integrations/mqtt/#device-discovery-payload).
///
/// It says where states are found and how they are read. What changes often stays on its own topics, so this is
/// published once. Buttons for a request have a topic of their own, which names the daemon's device too: Home Assistant
/// shows them there. No secret has a place here.
package struct HomeAssistantDevice: Encodable, Sendable {
  package struct Device: Encodable, Sendable {
    package var identifiers: [String]
    package var name: String
    package var manufacturer: String?
    package var model: String?
    package var softwareVersion: String?
    /// The identifier of the device by which this one is reached.
    package var viaDevice: String?

    enum CodingKeys: String, CodingKey {
      case identifiers, name, manufacturer, model
      case softwareVersion = "sw_version"
      case viaDevice = "via_device"
    }
  }

  /// Who announces it; Home Assistant's log names it.
  package struct Origin: Encodable, Sendable {
    package var name = "threadkeeper"
    package var softwareVersion: String

    enum CodingKeys: String, CodingKey {
      case name
      case softwareVersion = "sw_version"
    }
  }

  /// A topic that says `online` while the entities can be believed.
  package struct Availability: Encodable, Sendable, Equatable {
    package var topic: String
    package var valueTemplate = HomeAssistantTemplate.state

    enum CodingKeys: String, CodingKey {
      case topic
      case valueTemplate = "value_template"
    }
  }

  package var device: Device
  package var origin: Origin
  package var availability: [Availability]
  /// All of the topics have to say `online`.
  package var availabilityMode = "all"
  package var qos = 1
  package var components: [String: HomeAssistantEntity]
  /// Encoded among the components.
  package var buttons: [String: HomeAssistantButton] = [:]
  /// Entities that the device may have had. With nothing but its platform, Home Assistant removes one.
  package var removed: [String: HomeAssistantEntity.Platform] = [:]

  enum CodingKeys: String, CodingKey {
    case device, origin, availability
    case availabilityMode = "availability_mode"
    case qos, components
  }

  /// What the components have in common is only that each is keyed.
  private enum Component: Encodable {
    case entity(HomeAssistantEntity)
    case button(HomeAssistantButton)
    case removed(HomeAssistantEntity.Platform)

    func encode(to encoder: any Encoder) throws {
      switch self {
      case .entity(let entity): try entity.encode(to: encoder)
      case .button(let button): try button.encode(to: encoder)
      case .removed(let platform): try ["platform": platform].encode(to: encoder)
      }
    }
  }

  package func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(device, forKey: .device)
    try fields.encode(origin, forKey: .origin)
    try fields.encode(availability, forKey: .availability)
    try fields.encode(availabilityMode, forKey: .availabilityMode)
    try fields.encode(qos, forKey: .qos)
    let all = components.mapValues(Component.entity)
      .merging(buttons.mapValues(Component.button)) { $1 }
      .merging(removed.mapValues(Component.removed)) { $1 }
    try fields.encode(all, forKey: .components)
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
      agent: String, name: String? = nil, vendor: String? = nil, model: String? = nil,
      isOnlySeen: Bool = false
    ) {
      self.agent = agent
      self.name = name
      self.vendor = vendor
      self.model = model
      self.isOnlySeen = isOnlySeen
    }
  }

  /// The daemon, as far as it is about one home.
  package static func bridge(_ place: HomeAssistantPlace) -> HomeAssistantDevice {
    HomeAssistantDevice(
      device: bridgeDevice(place), origin: Origin(softwareVersion: place.version),
      availability: availability(place), components: place.bridgeEntities)
  }

  /// The buttons of a request for consent, in the daemon's device. Available while the request waits.
  package static func question(
    _ question: HomeAssistantButton.Question, _ place: HomeAssistantPlace
  ) -> HomeAssistantDevice {
    let waits = Availability(
      topic: OutboundTopic(base: place.home.base).consent,
      valueTemplate: HomeAssistantTemplate.isWaiting(question.id))
    return HomeAssistantDevice(
      device: bridgeDevice(place), origin: Origin(softwareVersion: place.version),
      availability: availability(place) + [waits], components: [:],
      buttons: place.buttons(question))
  }

  /// The button by which a network is preferred, in the daemon's device. Available while none is.
  package static func choice(
    _ choice: HomeAssistantButton.Choice, _ place: HomeAssistantPlace
  ) -> HomeAssistantDevice {
    let isUndecided = Availability(
      topic: OutboundTopic(base: place.home.base).info,
      valueTemplate: HomeAssistantTemplate.isUndecided)
    return HomeAssistantDevice(
      device: bridgeDevice(place), origin: Origin(softwareVersion: place.version),
      availability: availability(place) + [isUndecided], components: [:],
      buttons: place.button(choice))
  }

  /// The button that keeps the preferred network's keys, in the daemon's device. Available while they are disputed.
  package static func dispute(
    _ dispute: HomeAssistantButton.Dispute, _ place: HomeAssistantPlace
  ) -> HomeAssistantDevice {
    let isDisputed = Availability(
      topic: dispute.alertTopic, valueTemplate: HomeAssistantTemplate.isFiring)
    return HomeAssistantDevice(
      device: bridgeDevice(place), origin: Origin(softwareVersion: place.version),
      availability: availability(place) + [isDisputed], components: [:],
      buttons: place.button(dispute))
  }

  private static func bridgeDevice(_ place: HomeAssistantPlace) -> Device {
    Device(
      identifiers: [place.bridgeID],
      name: place.bridgeName,
      manufacturer: "threadkeeper", model: "Thread credential keeper",
      softwareVersion: place.version)
  }

  /// A border router. Its texts are whatever its publisher has sent.
  ///
  /// - Parameter login: of Home Assistant, where it decides about adoptions.
  package static func router(
    _ router: Router, _ place: HomeAssistantPlace, login: String? = nil
  ) -> HomeAssistantDevice {
    let described = self.device(of: router, place)
    var device = HomeAssistantDevice(
      device: described, origin: Origin(softwareVersion: place.version),
      availability: availability(place),
      components: place.entities(ofRouter: router.agent, named: described.name))
    let askAgain = login.map {
      place.askAgain(router.agent, named: described.name, login: $0, device.availability)
    }
    guard router.isOnlySeen else {
      device.buttons["ask_again"] = askAgain
      return device
    }
    if askAgain != nil { device.removed["ask_again"] = .button }
    // What nobody reports of it would stay unknown.
    for (key, entity) in device.components where !HomeAssistantPlace.entitiesOfSeen.contains(key) {
      device.components[key] = nil
      device.removed[key] = entity.platform
    }
    return device
  }

  static func device(of router: Router, _ place: HomeAssistantPlace) -> Device {
    Device(
      identifiers: ["\(place.bridgeID)_\(router.agent)"],
      name: visible(router.name) ?? "Border router \(router.agent)",
      manufacturer: visible(router.vendor), model: visible(router.model),
      viaDevice: place.bridgeID)
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
