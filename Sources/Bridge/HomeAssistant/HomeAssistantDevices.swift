// SPDX-License-Identifier: Apache-2.0

import Broker
import SQLiteDatabase
import ThreadDataset

/// Which devices Home Assistant is to find, and how they look: by the settings, the list of routers and the questions
/// that wait.
struct HomeAssistantDevices: Sendable {
  struct Home: Sendable {
    let place: HomeAssistantPlace
    fileprivate let routers: HomeAssistantRouterDevices
  }

  /// A device as it is to be announced.
  struct Found {
    let payload: [UInt8]
    let form: HomeAssistantForm

    fileprivate init(_ router: HomeAssistantDevice.Router, _ devices: HomeAssistantRouterDevices) {
      payload = devices.json(of: router)
      form = devices.form(of: router)
    }

    fileprivate init(_ device: HomeAssistantDevice) {
      payload = WireJSON().encode(device)
      form = HomeAssistantForm(of: payload)
    }
  }

  /// By their names; none where discovery is off.
  let homes: [String: Home]
  /// Nil where none is decided there.
  private let questions: HomeAssistantQuestions?

  /// - Parameter questions: which wait for a person; nil: no device has buttons for them.
  init(_ configuration: BridgeConfiguration, _ questions: HomeAssistantQuestions? = nil) {
    self.questions = configuration.homeAssistant.decidingLogin == nil ? nil : questions
    let login = configuration.homeAssistant.decidingLogin
    var homes: [String: Home] = [:]
    for home in configuration.topics.homes {
      guard let place = configuration.homeAssistantPlace(of: home.name) else { continue }
      homes[home.name] = Home(
        place: place, routers: HomeAssistantRouterDevices(place, login: login))
    }
    self.homes = homes
  }

  var isOn: Bool { !homes.isEmpty }

  /// Whether a row is about a request that is, or was, decided about.
  func isQuestion(_ record: HomeAssistantRecord, home name: String?) -> Bool {
    guard record.router == nil, let home = name.flatMap({ homes[$0] }) else { return false }
    return !home.place.bridgeTopic.hasBytes(of: record.topic)
  }

  /// The buttons of the requests that wait and that Home Assistant decides about, by topic, oldest first; then those of
  /// the networks that can be preferred.
  private func buttons(
    of name: String, _ home: Home, _ tx: ReadTransaction
  ) throws -> [(topic: String, found: Found)] {
    guard let questions else { return [] }
    let asked = questions.asked(in: name, tx).map {
      (topic: home.place.questionTopic($0.id), found: Found(.question($0, home.place)))
    }
    let record = try HomeLedger.all(tx).first { $0.name == name }
    let choices = try record.map { try questions.choices(in: $0, tx) } ?? []
    return asked
      + choices.map {
        (topic: home.place.choiceTopic($0.network), found: Found(.choice($0, home.place)))
      }
  }

  /// The device that belongs on a topic now; nil where none does.
  func device(on record: HomeAssistantRecord, home name: String?, _ tx: ReadTransaction) throws
    -> Found?
  {
    guard let name, let home = homes[name] else { return nil }
    guard let agent = record.router else {
      if home.place.bridgeTopic.hasBytes(of: record.topic) { return Found(.bridge(home.place)) }
      return try buttons(of: name, home, tx).first { $0.topic.hasBytes(of: record.topic) }?.found
    }
    guard home.place.routerTopic(agent).hasBytes(of: record.topic),
      let router = try RouterLedger.find(agent, home: record.home, tx), router.isPresent
    else { return nil }
    return Found(router.homeAssistantFacts, home.routers)
  }

  /// Brings the rows in line with the settings and the list of routers, at the start: what differs from what the
  /// broker has, or belongs nowhere, becomes due. The daemon's own devices come first, because those of routers
  /// refer to them.
  func reconcile(_ tx: WriteTransaction) throws {
    var rows: [String: HomeAssistantRecord] = [:]
    for record in try HomeAssistantLedger.all(tx) { rows[record.topic] = record }
    func want(
      _ topic: String, _ agent: BorderAgentID?, _ form: HomeAssistantForm, _ home: Int64,
      from event: Int64 = 1
    ) throws {
      if let row = rows.removeValue(forKey: topic), row.home == home, row.router == agent,
        row.due != nil || row.form == form
      {
        return
      }
      try HomeAssistantLedger.setDue(topic, of: agent, home: home, from: event, tx)
    }
    for record in try HomeLedger.all(tx) {
      guard let home = homes[record.name] else { continue }
      let bridge = Found(.bridge(home.place))
      try want(home.place.bridgeTopic, nil, bridge.form, record.id, from: 0)
      for (topic, found) in try buttons(of: record.name, home, tx) {
        try want(topic, nil, found.form, record.id)
      }
      var cursor: Int64 = 0
      while case let page = try RouterLedger.page(home: record.id, after: cursor, limit: 500, tx),
        let last = page.last
      {
        for router in page {
          let form = home.routers.form(of: router.homeAssistantFacts)
          try want(home.place.routerTopic(router.agent), router.agent, form, record.id)
        }
        cursor = last.id
      }
    }
    for row in rows.values { try HomeAssistantLedger.setDue(row: row.id, from: 1, tx) }
  }
}

extension BridgeConfiguration {
  /// Nil where discovery is off, and for a home that the settings do not name.
  func homeAssistantPlace(of home: String) -> HomeAssistantPlace? {
    guard homeAssistant.isOn else { return nil }
    return HomeAssistantPlace(
      home: home, in: topics, prefix: homeAssistant.prefix, version: version)
  }
}

extension RouterRecord {
  /// What a device shows of it.
  var homeAssistantFacts: HomeAssistantDevice.Router {
    .init(
      agent: agent.description, name: name, vendor: vendor, model: model,
      isOnlySeen: source == .mdns && credential == .missing)
  }

  /// Whether a change makes another device of it.
  func needsAnnouncement(after stored: RouterRecord?) -> Bool {
    guard let stored, stored.isPresent else { return true }
    return homeAssistantFacts != stored.homeAssistantFacts
  }
}
