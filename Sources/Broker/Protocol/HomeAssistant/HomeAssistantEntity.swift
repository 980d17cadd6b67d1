// SPDX-License-Identifier: Apache-2.0

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
