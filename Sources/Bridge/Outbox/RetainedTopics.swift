// SPDX-License-Identifier: Apache-2.0

import Broker
import SQLiteDatabase
import ThreadDataset

/// What belongs on the daemon's own retained topics, by what the store says now. A broker that was killed brings back
/// what was there when it saved last: routers that left, alerts that are over.
///
/// The topics below `bridge/` are not among them: each connection begins with publishing them.
struct RetainedTopics: Sendable {
  let database: SQLiteDatabase
  let topics: BaseTopics
  let devices: HomeAssistantDevices

  /// What is kept there comes once with each connection.
  var filters: [String] {
    topics.homes.flatMap { home in
      ["router/+", "router/+/availability", "network/+", "alert/+"].map { "\(home.base)/\($0)" }
    }
  }

  /// Where the daemon's devices are announced to Home Assistant, and what others publish there comes as well; nil where
  /// discovery is off.
  var deviceFilter: String? {
    devices.homes.values.first.map { "\(HomeAssistantPlace.devices($0.place.prefix))/+/config" }
  }

  /// A device as it should be announced, where what was received is something else.
  struct Device {
    let publication: Publication
    let home: String
    /// Whether it has the buttons of a request that waits, or of a network that can be preferred.
    let isButton: Bool
  }

  /// What belongs on the topics of devices now; empty payloads where nothing does.
  func wantedDevices(on topics: some Sequence<String>) throws -> [Publication] {
    try topics.map {
      try correction(ofDevice: IncomingMessage(topic: $0, payload: []))?.publication
        ?? Publication(topic: $0, payload: [], retain: true)
    }
  }

  /// Nil for another program's topic, and for what is as it should be.
  func correction(ofDevice message: IncomingMessage) throws -> Device? {
    guard
      let (name, home) = devices.homes.first(where: { $1.place.owns(message.topic) })
    else { return nil }
    return try database.read { tx in
      let row = try HomeAssistantLedger.find(message.topic, tx)
      let payload = try row.flatMap { try devices.device(on: $0, home: name, tx) }?.payload ?? []
      guard payload != message.payload else { return nil }
      let isButton =
        !payload.isEmpty && row.map { devices.isQuestion($0, home: name) } == true
      return Device(
        publication: Publication(topic: message.topic, payload: payload, retain: true),
        home: home.place.home.name, isButton: isButton)
    }
  }

  /// Routers on the list, of all homes: each has a state at the broker.
  func routers() throws -> Int {
    try database.read { tx in
      let served = Set(topics.homes.map(\.name))
      return try HomeLedger.all(tx).filter { served.contains($0.name) }
        .reduce(0) { try $0 + RouterLedger.countPresent(home: $1.id, tx) }
    }
  }

  /// What corrects messages that the broker keeps, and how many of them are states of routers on the list.
  func corrections(of kept: [IncomingMessage]) throws -> (publications: [Publication], routers: Int)
  {
    try database.read { tx in
      let renderer = try PublicationRenderer(topics: topics, tx)
      var publications: [Publication] = []
      var routers = 0
      for message in kept {
        guard let wanted = try wanted(on: message.topic, renderer, tx) else { continue }
        if wanted.isRouter { routers += 1 }
        if wanted.publication.payload != message.payload {
          publications.append(wanted.publication)
        }
      }
      return (publications, routers)
    }
  }

  /// Nil for a topic that is none of these.
  private func wanted(
    on topic: String, _ renderer: PublicationRenderer, _ tx: ReadTransaction
  ) throws -> (publication: Publication, isRouter: Bool)? {
    guard let (place, rest) = topics.split(topic),
      let home = renderer.homes.values.first(where: { $0.name == place.name })
    else { return nil }
    let outbound = OutboundTopic(base: place.base)
    let levels = rest.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    guard levels.count == 2 || levels.count == 3 && levels[2] == "availability" else { return nil }
    var found: [Publication] = []
    switch levels[0] {
    case "router":
      if let agent = BorderAgentID(hex: levels[1]),
        let router = try RouterLedger.find(agent, home: home.id, tx), router.isPresent
      {
        found = renderer.states(of: router, home: home, outbound)
      }
    case "network":
      if let id = ExtendedPANID(hex: levels[1]),
        let network = try NetworkLedger.find(id, home: home.id, tx)
      {
        found = [try renderer.state(of: network, home: home, outbound, tx)]
      }
    case "alert":
      // Of the one that is not stored, each connection publishes what is true.
      let unstored = AlertFingerprint(home: home.name, name: .storeReadOnly, subject: "")
      guard levels[1] != unstored.description else { return nil }
      if let fingerprint = AlertFingerprint(hex: levels[1]),
        let alert = try AlertLedger.find(fingerprint, tx), alert.home == home.id, alert.wasPublished
      {
        found = [renderer.state(of: alert, home: home, outbound)]
      }
    default: return nil
    }
    let own = found.first { $0.topic.hasBytes(of: topic) }
    return (
      own ?? Publication(topic: topic, payload: [], retain: true),
      own != nil && levels.count == 2 && levels[0] == "router"
    )
  }
}
