// SPDX-License-Identifier: Apache-2.0

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
    alert.eventTypes = Self.names(of: .alert)

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
    credentials.options = CredentialState.allCases.map(\.rawValue)
    var event = HomeAssistantEntity(
      .event, "event", "Event", icon: "mdi:message-text-outline", stateTopic: "\(state)/event", nil,
      isDiagnostic: false)
    event.eventTypes = Self.names(of: .ofRouter)
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

  private static func names(of types: OutboundEventTypes) -> [String] {
    OutboundEventTypes.names.filter { types.contains($0.type) }.map(\.name)
  }
}

extension OutboundEventTypes {
  /// All that `router/<id>/event` may carry.
  static let ofRouter = Self(
    rawValue: names.reduce(0) { $0 | $1.type.rawValue }
      & ~(alert.rawValue | messageRejected.rawValue))
}
