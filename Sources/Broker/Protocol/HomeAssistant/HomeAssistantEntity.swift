import Home
import Wire

/// An entity of a device in Home Assistant, also a button
/// (https://www.home-assistant.io/integrations/button.mqtt/). Fields as Home Assistant has them.
package struct HomeAssistantEntity: WirePart {
  package enum Platform: String, WireName {
    case binarySensor = "binary_sensor"
    case sensor, event, button
  }

  package let platform: Platform
  var uniqueID: String?
  /// What its id begins as: `sensor.threadkeeper_networks`. People may change it. Nil: Home Assistant makes it.
  var defaultEntityID: String?
  /// In sentence case; Home Assistant puts the device's name before it.
  package var name: String?
  package var icon: String?
  var deviceClass: String?
  var stateClass: String?
  /// Not what a person has the device for.
  var isDiagnostic = false
  var enabledByDefault: Bool?
  var stateTopic: String?
  /// Jinja. A removed state is an empty payload, which has no JSON; see `HomeAssistantTemplate`.
  var valueTemplate: String?
  var payloadOn: String?
  var payloadOff: String?
  package var options: [String]?
  var eventTypes: [String]?
  /// Of a button: what a press does, as an attribute.
  var attributesTopic: String?
  var attributesTemplate: String?
  /// Empty where the entity says itself whether the daemon is there; nil: that of the device.
  package var availability: [HomeAssistantDevice.Availability]?
  /// Of a button: where a press is published, until the broker has it.
  var commandTopic: String?
  /// A request as JSON: Home Assistant publishes it as it is.
  var payloadPress: String?

  /// One that the device may have had. With nothing but its platform, Home Assistant removes it.
  init(removed platform: Platform) { self.platform = platform }

  init(
    _ platform: Platform, _ key: String, _ name: String, icon: String? = nil, deviceClass: String? = nil,
    stateTopic: String, _ valueTemplate: String?, isDiagnostic: Bool = true
  ) {
    self.platform = platform
    self.uniqueID = key
    self.name = name
    self.icon = icon
    self.deviceClass = deviceClass
    self.isDiagnostic = isDiagnostic
    self.stateTopic = stateTopic
    self.valueTemplate = valueTemplate
  }

  /// A button.
  init(id: String, defaultEntityID: String?, _ name: String, icon: String, commandTopic: String, payload: String) {
    platform = .button
    uniqueID = id
    self.defaultEntityID = defaultEntityID.map { "button.\($0)" }
    self.name = name
    self.icon = icon
    self.commandTopic = commandTopic
    payloadPress = payload
  }

  package func fields<Coder: WireCoder>(_ c: inout Coder) {
    c.field("availability", availability, .availability)
    c.field("command_topic", commandTopic, .filled(""))
    c.field(
      "default_entity_id", defaultEntityID,
      .text("What its id begins as.", pattern: "^(binary_sensor|sensor|event|button)[.][a-z0-9_]+$"))
    c.field(
      "device_class", deviceClass,
      .text("As Home Assistant has it.", pattern: "^(connectivity|problem|timestamp|enum)$"))
    c.field("enabled_by_default", enabledByDefault)
    c.field("entity_category", isDiagnostic ? "diagnostic" : nil, .text("", pattern: "^diagnostic$"))
    c.field("event_types", eventTypes)
    c.field("icon", icon, .text("", pattern: "^mdi:[a-z0-9-]+$"))
    c.field("json_attributes_template", attributesTemplate, .filled(""))
    c.field("json_attributes_topic", attributesTopic, .filled(""))
    c.field("name", name, .filled(""))
    c.field("options", options)
    c.field("payload_off", payloadOff, .text("", pattern: "^offline$"))
    c.field("payload_on", payloadOn, .text("", pattern: "^online$"))
    c.field("payload_press", payloadPress, .filled("A request as JSON."))
    c.needed("platform", platform, "Kind of entity.")
    c.field("qos", payloadPress == nil ? nil : 1, WireForm("Of what a button publishes.", least: 1, most: 1))
    c.field("state_class", stateClass, .text("", pattern: "^measurement$"))
    c.field("state_topic", stateTopic, .filled(""))
    c.field(
      "unique_id", uniqueID,
      .text(
        "The object id, or with a request's buttons that of their topic, _ and the key.",
        pattern: "^threadkeeper_[A-Za-z0-9-]+(_[0-9a-f]{16}|_[0-9a-f]{32}|_[cn]-[0-9a-f]{16}|_p-[0-9]+)?_[a-z_]+$"))
    c.field("value_template", valueTemplate, .filled(""))
  }

  package static var form: WireForm {
    WireForm(name: "component", "An entity; with its platform alone, one that the device has no more.")
  }

  package static let sample = HomeAssistantEntity(removed: .event)

  package var rules: String {
    #"""
    "if": {"minProperties": 2},
    "then": {
      "required": ["unique_id", "name"],
      "if": {"properties": {"platform": {"const": "button"}}},
      "then": {"required": ["command_topic", "payload_press", "qos"]},
      "else": {"required": ["state_topic"]}
    }
    """#
  }
}

extension WireForm {
  static var availability: WireForm { WireForm(name: "availability", "Topics that have to say online.", most: 3) }
}

extension HomeAssistantPlace {
  /// The entities of the daemon's device. Those of one home are about that home.
  var bridgeEntities: [String: HomeAssistantEntity] {
    let topic = OutboundTopic(base: home.base)
    // The last will is published for the first home only.
    var connectivity = HomeAssistantEntity(
      .binarySensor, "connectivity", "Connectivity", deviceClass: "connectivity",
      stateTopic: OutboundTopic(base: firstBase).state, HomeAssistantTemplate.state)
    connectivity.payloadOn = "online"
    connectivity.payloadOff = "offline"
    // Without this it would be unavailable, and never off.
    connectivity.availability = []

    var problem = HomeAssistantEntity(
      .binarySensor, "problem", "Problem", deviceClass: "problem", stateTopic: topic.alerts,
      HomeAssistantTemplate.problem, isDiagnostic: false)
    problem.attributesTopic = topic.alerts
    problem.attributesTemplate = HomeAssistantTemplate.alerts

    var alert = HomeAssistantEntity(
      .event, "alert", "Alert", icon: "mdi:alert-outline", stateTopic: topic.alertEvent, nil, isDiagnostic: false)
    alert.eventTypes = Alert.News.allCases.map(\.word.description)

    var networks = HomeAssistantEntity(
      .sensor, "networks", "Networks", icon: "mdi:lan", stateTopic: topic.info, HomeAssistantTemplate.field("networks"))
    networks.stateClass = "measurement"
    var routers = HomeAssistantEntity(
      .sensor, "routers", "Border routers", icon: "mdi:router-wireless", stateTopic: topic.info,
      HomeAssistantTemplate.field("routers"))
    routers.stateClass = "measurement"
    let preferred = HomeAssistantEntity(
      .sensor, "preferred_network", "Preferred network", icon: "mdi:star-circle-outline", stateTopic: topic.info,
      HomeAssistantTemplate.preferredNetwork)
    var protected = HomeAssistantEntity(
      .binarySensor, "protected", "Protected", icon: "mdi:shield-home-outline", stateTopic: topic.info,
      HomeAssistantTemplate.isProtected)
    protected.attributesTopic = topic.info
    protected.attributesTemplate = HomeAssistantTemplate.missing
    func time(_ key: String, _ name: String, _ field: String, icon: String) -> HomeAssistantEntity {
      HomeAssistantEntity(
        .sensor, key, name, icon: icon, deviceClass: "timestamp", stateTopic: OutboundTopic(base: firstBase).health,
        HomeAssistantTemplate.field(field))
    }
    let backup = time("last_backup", "Last backup", "last_backup_at", icon: "mdi:backup-restore")
    let read = time("credentials_read", "Credentials last read", "credentials_read_at", icon: "mdi:key-wireless")
    return keyed(
      [connectivity, problem, alert, networks, routers, preferred, protected, backup, read], id: bridgeID,
      named: bridgeName)
  }

  /// Keys of what is known of a router that only its record on the local network says something of.
  static let entitiesOfSeen: Set<String> = ["connectivity", "mismatch", "network_name", "ext_pan_id"]

  /// The entities of a border router's device.
  func entities(ofRouter agent: String, named name: String) -> [String: HomeAssistantEntity] {
    let state = "\(home.base)/router/\(agent)"
    var connectivity = HomeAssistantEntity(
      .binarySensor, "connectivity", "Connectivity", deviceClass: "connectivity", stateTopic: "\(state)/availability",
      HomeAssistantTemplate.state)
    connectivity.payloadOn = "online"
    connectivity.payloadOff = "offline"
    let mismatch = HomeAssistantEntity(
      .binarySensor, "mismatch", "Preferred network mismatch", deviceClass: "problem", stateTopic: state,
      HomeAssistantTemplate.mismatch, isDiagnostic: false)
    let network = HomeAssistantEntity(
      .sensor, "network_name", "Network name", icon: "mdi:graph-outline", stateTopic: state,
      HomeAssistantTemplate.field("network_name"))
    let channel = HomeAssistantEntity(
      .sensor, "channel", "Channel", icon: "mdi:radio-tower", stateTopic: state, HomeAssistantTemplate.field("channel"))
    var extendedPANID = HomeAssistantEntity(
      .sensor, "ext_pan_id", "Extended PAN ID", icon: "mdi:identifier", stateTopic: state,
      HomeAssistantTemplate.field("ext_pan_id"))
    extendedPANID.enabledByDefault = false
    let changed = HomeAssistantEntity(
      .sensor, "dataset_changed", "Dataset changed", icon: "mdi:clock-edit-outline", deviceClass: "timestamp",
      stateTopic: state, HomeAssistantTemplate.field("dataset_changed_at"))
    var credentials = HomeAssistantEntity(
      .sensor, "credentials", "Credentials", icon: "mdi:key-variant", deviceClass: "enum", stateTopic: state,
      HomeAssistantTemplate.field("credentials"))
    credentials.options = CredentialState.allCases.map(\.word.description)
    var event = HomeAssistantEntity(
      .event, "event", "Event", icon: "mdi:message-text-outline", stateTopic: "\(state)/event", nil, isDiagnostic: false
    )
    event.eventTypes = OutboundEventKind.ofRouters.map(\.rawValue)
    return keyed(
      [connectivity, mismatch, network, channel, extendedPANID, changed, credentials, event],
      id: "\(bridgeID)_\(agent)", named: name)
  }

  /// By their keys, each with an id of its own.
  ///
  /// - Parameter name: the device's.
  private func keyed(_ entities: [HomeAssistantEntity], id: String, named name: String) -> [String: HomeAssistantEntity]
  {
    var keyed: [String: HomeAssistantEntity] = [:]
    for var entity in entities {
      guard let key = entity.uniqueID, let own = entity.name else { continue }
      entity.uniqueID = "\(id)_\(key)"
      entity.defaultEntityID = Self.slug("\(name) \(own)").map { "\(entity.platform.rawValue).\($0)" }
      keyed[key] = entity
    }
    return keyed
  }
}

/// The Jinja templates by which Home Assistant reads the states.
///
/// A removed state is published as an empty payload, of which `value_json` is not defined. `None` makes a state
/// unknown; an empty text would leave it as it was.
package enum HomeAssistantTemplate {
  /// `online` or `offline`, of `bridge/state` and of a router's availability.
  package static let state = "{{ value_json.state if value_json is defined else 'offline' }}"

  /// One field of a state; unknown where it has none.
  static func field(_ name: String) -> String {
    "{{ value_json.\(name) | default(None) if value_json is defined else None }}"
  }

  /// Of `bridge/info`: its name, or its id where no name is known; unknown where no network is preferred.
  static let preferredNetwork =
    "{{ (value_json.preferred_network.network_name or value_json.preferred_network.ext_pan_id) "
    + "if value_json is defined and value_json.preferred_network is defined else None }}"

  /// Of `bridge/info`: whether no step of protection is missing.
  static let isProtected =
    "{{ ('ON' if value_json.protection == 'protected' else 'OFF') if value_json is defined else None }}"

  /// Of `bridge/info`: the steps that are missing, as an attribute.
  static let missing =
    "{{ ({'missing': value_json.protection_missing | default([])} if value_json is defined else {}) | to_json }}"

  /// Of `bridge/info`: whether nobody has said yet that alerts arrive.
  static let needsAlerts =
    "{{ 'online' if value_json is defined and 'alerts' in value_json.protection_missing | default([]) else 'offline' }}"

  /// Of `bridge/info`: whether a network can be chosen, because none is preferred.
  static let isUndecided =
    "{{ 'online' if value_json is defined and value_json.preferred_network is not defined " + "else 'offline' }}"

  /// The network that a button prefers, as an attribute.
  static func choice(_ network: String) -> String { "{{ {'ext_pan_id': '\(network)'} | to_json }}" }

  /// Of an alert: whether it fires.
  static let isFiring = "{{ 'online' if value_json is defined and value_json.status == 'firing' else 'offline' }}"

  /// Of an alert: what a press is about, as an attribute.
  static let dispute = "{{ ({'dispute': value_json.summary} if value_json is defined else {}) | to_json }}"

  /// Of a router's state: a problem or none; unknown where there is nothing to compare, or its network is accepted.
  static let mismatch =
    "{{ {'match': 'OFF', 'mismatch': 'ON'}.get(value_json.preferred) " + "if value_json is defined else None }}"

  /// Of a router's state: whether its adoption has failed.
  static let hasFailed = "{{ 'online' if value_json is defined and value_json.adoption == 'failed' else 'offline' }}"

  /// Of `bridge/consent`: what a yes to this request does, as an attribute.
  ///
  /// - Parameter id: `c-` and 16 hex digits.
  static func question(_ id: String) -> String {
    "{% set asked = (value_json.home_assistant | default([]) if value_json is defined else []) "
      + "| selectattr('id', 'eq', '\(id)') | list %}"
      + "{{ ({'question': asked[0].message} if asked else {}) | to_json }}"
  }

  /// Of `bridge/consent`: whether this request is among those that Home Assistant decides about.
  ///
  /// - Parameter id: `c-` and 16 hex digits.
  static func isWaiting(_ id: String) -> String {
    "{{ 'online' if value_json is defined and '\(id)' in value_json.home_assistant | default([]) "
      + "| map(attribute='id') | list else 'offline' }}"
  }

  /// Of `bridge/alerts`. What is only for information is no problem.
  static let problem =
    "{{ ('ON' if value_json.critical + value_json.warning > 0 else 'OFF') " + "if value_json is defined else None }}"

  /// Of `bridge/alerts`: what a person needs of each. Home Assistant keeps at most 16 KiB of attributes in its
  /// database, which 20 whole alerts exceed.
  static let alerts =
    "{% set found = namespace(alerts=[]) %}{% if value_json is defined %}"
    + "{% for alert in value_json.alerts %}{% set found.alerts = found.alerts + [{"
    + "'alertname': alert.alertname, 'severity': alert.severity, 'summary': alert.summary, "
    + "'remedy': alert.remedy, 'starts_at': alert.starts_at}] %}{% endfor %}"
    + "{{ {'critical': value_json.critical, 'warning': value_json.warning, 'info': value_json.info, "
    + "'alerts': found.alerts} | to_json }}{% else %}{}{% endif %}"
}
