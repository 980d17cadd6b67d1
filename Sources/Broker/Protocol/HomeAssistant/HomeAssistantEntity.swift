// SPDX-License-Identifier: Apache-2.0

import Home
import Wire

/// An entity of a device in Home Assistant. Keys as Home Assistant has them; what is nil is left out.
package struct HomeAssistantEntity: Encodable, Sendable {
  package enum Platform: String, Encodable, Sendable {
    case binarySensor = "binary_sensor"
    case sensor, event, button
  }

  package var platform: Platform
  package var uniqueID: String
  /// What its id begins as: `sensor.threadkeeper_networks`. People may change it. Nil: Home Assistant makes it.
  package var defaultEntityID: String?
  /// In sentence case; Home Assistant puts the device's name before it.
  package var name: String
  package var icon: String?
  package var deviceClass: String?
  package var stateClass: String?
  /// `diagnostic`: not what a person has the device for.
  package var entityCategory: String?
  package var enabledByDefault: Bool?
  package var stateTopic: String
  /// Jinja. A removed state is an empty payload, which has no JSON; see `HomeAssistantTemplate`.
  package var valueTemplate: String?
  package var payloadOn: String?
  package var payloadOff: String?
  package var options: [String]?
  package var eventTypes: [String]?
  package var attributesTopic: String?
  package var attributesTemplate: String?
  /// Empty where the entity says itself whether the daemon is there; nil: that of the device.
  package var availability: [HomeAssistantDevice.Availability]?

  init(
    _ platform: Platform, _ key: String, _ name: String, icon: String? = nil,
    deviceClass: String? = nil, stateTopic: String, _ valueTemplate: String?,
    isDiagnostic: Bool = true
  ) {
    self.platform = platform
    self.uniqueID = key
    self.name = name
    self.icon = icon
    self.deviceClass = deviceClass
    self.entityCategory = isDiagnostic ? "diagnostic" : nil
    self.stateTopic = stateTopic
    self.valueTemplate = valueTemplate
  }

  enum CodingKeys: String, CodingKey {
    case platform
    case uniqueID = "unique_id"
    case defaultEntityID = "default_entity_id"
    case name, icon
    case deviceClass = "device_class"
    case stateClass = "state_class"
    case entityCategory = "entity_category"
    case enabledByDefault = "enabled_by_default"
    case stateTopic = "state_topic"
    case valueTemplate = "value_template"
    case payloadOn = "payload_on"
    case payloadOff = "payload_off"
    case options
    case eventTypes = "event_types"
    case attributesTopic = "json_attributes_topic"
    case attributesTemplate = "json_attributes_template"
    case availability
  }
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
      .event, "alert", "Alert", icon: "mdi:alert-outline", stateTopic: topic.alertEvent, nil,
      isDiagnostic: false)
    alert.eventTypes = Alert.News.allCases.map(\.word.description)

    var networks = HomeAssistantEntity(
      .sensor, "networks", "Networks", icon: "mdi:lan", stateTopic: topic.info,
      HomeAssistantTemplate.field("networks"))
    networks.stateClass = "measurement"
    var routers = HomeAssistantEntity(
      .sensor, "routers", "Border routers", icon: "mdi:router-wireless", stateTopic: topic.info,
      HomeAssistantTemplate.field("routers"))
    routers.stateClass = "measurement"
    let preferred = HomeAssistantEntity(
      .sensor, "preferred_network", "Preferred network", icon: "mdi:star-circle-outline",
      stateTopic: topic.info, HomeAssistantTemplate.preferredNetwork)
    return keyed(
      [connectivity, problem, alert, networks, routers, preferred], id: bridgeID,
      named: bridgeName)
  }

  /// Keys of what is known of a router that only its record on the local network says something of.
  static let entitiesOfSeen: Set<String> = [
    "connectivity", "mismatch", "network_name", "ext_pan_id",
  ]

  /// The entities of a border router's device.
  func entities(ofRouter agent: String, named name: String) -> [String: HomeAssistantEntity] {
    let state = "\(home.base)/router/\(agent)"
    var connectivity = HomeAssistantEntity(
      .binarySensor, "connectivity", "Connectivity", deviceClass: "connectivity",
      stateTopic: "\(state)/availability", HomeAssistantTemplate.state)
    connectivity.payloadOn = "online"
    connectivity.payloadOff = "offline"
    let mismatch = HomeAssistantEntity(
      .binarySensor, "mismatch", "Preferred network mismatch", deviceClass: "problem",
      stateTopic: state, HomeAssistantTemplate.mismatch, isDiagnostic: false)
    let network = HomeAssistantEntity(
      .sensor, "network_name", "Network name", icon: "mdi:graph-outline", stateTopic: state,
      HomeAssistantTemplate.field("network_name"))
    let channel = HomeAssistantEntity(
      .sensor, "channel", "Channel", icon: "mdi:radio-tower", stateTopic: state,
      HomeAssistantTemplate.field("channel"))
    var extendedPANID = HomeAssistantEntity(
      .sensor, "ext_pan_id", "Extended PAN ID", icon: "mdi:identifier", stateTopic: state,
      HomeAssistantTemplate.field("ext_pan_id"))
    extendedPANID.enabledByDefault = false
    let changed = HomeAssistantEntity(
      .sensor, "dataset_changed", "Dataset changed", icon: "mdi:clock-edit-outline",
      deviceClass: "timestamp", stateTopic: state,
      HomeAssistantTemplate.field("dataset_changed_at"))
    var credentials = HomeAssistantEntity(
      .sensor, "credentials", "Credentials", icon: "mdi:key-variant", deviceClass: "enum",
      stateTopic: state, HomeAssistantTemplate.field("credentials"))
    credentials.options = CredentialState.allCases.map(\.word.description)
    var event = HomeAssistantEntity(
      .event, "event", "Event", icon: "mdi:message-text-outline", stateTopic: "\(state)/event", nil,
      isDiagnostic: false)
    event.eventTypes = OutboundEventKind.ofRouters.map(\.rawValue)
    return keyed(
      [connectivity, mismatch, network, channel, extendedPANID, changed, credentials, event],
      id: "\(bridgeID)_\(agent)", named: name)
  }

  /// By their keys, each with an id of its own.
  ///
  /// - Parameter name: the device's.
  private func keyed(
    _ entities: [HomeAssistantEntity], id: String, named name: String
  ) -> [String: HomeAssistantEntity] {
    var keyed: [String: HomeAssistantEntity] = [:]
    for var entity in entities {
      let key = entity.uniqueID
      entity.uniqueID = "\(id)_\(key)"
      entity.defaultEntityID = Self.slug("\(name) \(entity.name)").map {
        "\(entity.platform.rawValue).\($0)"
      }
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

  /// Of `bridge/info`; unknown where no network is preferred.
  static let preferredNetwork =
    "{{ value_json.preferred_network.network_name "
    + "if value_json is defined and value_json.preferred_network is defined else None }}"

  /// Of `bridge/info`: whether a network can be chosen, because none is preferred.
  static let isUndecided =
    "{{ 'online' if value_json is defined and value_json.preferred_network is not defined "
    + "else 'offline' }}"

  /// The network that a button prefers, as an attribute.
  static func choice(_ network: String) -> String {
    "{{ {'ext_pan_id': '\(network)'} | to_json }}"
  }

  /// Of an alert: whether it fires.
  static let isFiring =
    "{{ 'online' if value_json is defined and value_json.status == 'firing' else 'offline' }}"

  /// Of an alert: what a press is about, as an attribute.
  static let dispute =
    "{{ ({'dispute': value_json.summary} if value_json is defined else {}) | to_json }}"

  /// Of a router's state: a problem or none; unknown where there is nothing to compare, or its network is accepted.
  static let mismatch =
    "{{ {'match': 'OFF', 'mismatch': 'ON'}.get(value_json.preferred) "
    + "if value_json is defined else None }}"

  /// Of a router's state: whether its adoption has failed.
  static let hasFailed =
    "{{ 'online' if value_json is defined and value_json.adoption == 'failed' else 'offline' }}"

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
    "{{ ('ON' if value_json.critical + value_json.warning > 0 else 'OFF') "
    + "if value_json is defined else None }}"

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
