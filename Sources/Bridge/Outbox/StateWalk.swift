// SPDX-License-Identifier: Apache-2.0

import Broker
import SQLiteDatabase

/// Goes through all that is retained, a few rows at a time: to publish it again, or to empty its topics.
struct StateWalk {
  private static let step = 32

  private enum Stage { case routers, networks, alerts, bridge }

  /// Homes that are left to do, with the base topic to write below.
  private var homes: [(name: String, base: String)]
  private var stage = Stage.routers
  private var cursor: Int64 = 0
  /// The device of Home Assistant up to which all are announced; nil: there is none left.
  private var device: Int64?
  /// Homes of which it is left to say which routers are online: Home Assistant wants to know that before any state.
  private var homesBefore: [(name: String, base: String)] = []
  /// Whether a router's state need not say it as well.
  private var isAvailabilitySaid = false
  private let saysPresence: Bool
  let isClearing: Bool
  /// Whether the topics about the daemon itself are emptied, too.
  private let includesBridge: Bool

  /// - Parameters:
  ///   - announcesDevices: whether it begins with the devices of Home Assistant.
  ///   - saysPresence: whether it also says, after them, that the daemon is there.
  init(publishing topics: BaseTopics, announcesDevices: Bool = false, saysPresence: Bool = false) {
    homes = topics.homes.map { ($0.name, $0.base) }
    if announcesDevices {
      device = 0
      homesBefore = homes
      isAvailabilitySaid = true
    }
    isClearing = false
    includesBridge = false
    self.saysPresence = saysPresence
  }

  /// - Parameter includesBridge: not where another home lives now, whose they are.
  init(clearing base: String, of home: String, includesBridge: Bool) {
    homes = [(home, base)]
    isClearing = true
    self.includesBridge = includesBridge
    saysPresence = false
  }

  /// The devices of Home Assistant, before all else; empty when there is none left.
  mutating func nextDevices(
    _ queue: inout HomeAssistantQueue, _ renderer: PublicationRenderer, _ tx: ReadTransaction
  ) throws -> [HomeAssistantQueue.Item] {
    guard var walked = device else { return [] }
    let items = try queue.next(after: &walked, renderer, tx)
    device = items.isEmpty ? nil : walked
    return items
  }

  /// Empty when there is nothing left.
  mutating func next(_ renderer: PublicationRenderer, _ tx: ReadTransaction) throws
    -> [Publication]
  {
    while let (name, base) = homesBefore.first {
      let publications = try availability(ofHome: name, OutboundTopic(base: base), renderer, tx)
      guard publications.isEmpty else { return publications }
      cursor = 0
      homesBefore.removeFirst()
    }
    while let (name, base) = homes.first {
      guard let home = renderer.homes.values.first(where: { $0.name == name }) else {
        homes.removeFirst()
        continue
      }
      let publications = try step(home, OutboundTopic(base: base), renderer, tx)
      guard publications.isEmpty else { return cleared(publications) }
      cursor = 0
      switch stage {
      case .routers: stage = .networks
      case .networks: stage = .alerts
      case .alerts: stage = .bridge
      case .bridge:
        stage = .routers
        homes.removeFirst()
      }
    }
    return []
  }

  private mutating func step(
    _ home: HomeRecord, _ topic: OutboundTopic, _ renderer: PublicationRenderer,
    _ tx: ReadTransaction
  ) throws -> [Publication] {
    switch stage {
    case .routers:
      let routers = try RouterLedger.page(home: home.id, after: cursor, limit: Self.step, tx)
      cursor = routers.last?.id ?? cursor
      return routers.flatMap {
        let states = renderer.states(of: $0, home: home, topic)
        return isAvailabilitySaid ? Array(states.prefix(1)) : states
      }
    case .networks:
      let rows = try NetworkLedger.page(home: home.id, after: cursor, limit: Self.step, tx)
      cursor = rows.last?.id ?? cursor
      return try rows.map { try renderer.state(of: $0.network, home: home, topic, tx) }
    case .alerts:
      let rows = try AlertLedger.published(home: home.id, after: cursor, limit: Self.step, tx)
      cursor = rows.last?.id ?? cursor
      return rows.map { renderer.state(of: $0.alert, home: home, topic) }
    case .bridge:
      guard includesBridge, cursor == 0 else { return [] }
      cursor = 1
      return [topic.state, topic.info, topic.health, topic.alerts, topic.consent].map {
        Publication(topic: $0, payload: [], retain: true)
      }
    }
  }

  /// That the daemon is there, and which routers are online.
  private mutating func availability(
    ofHome name: String, _ topic: OutboundTopic, _ renderer: PublicationRenderer,
    _ tx: ReadTransaction
  ) throws -> [Publication] {
    guard let home = renderer.homes.values.first(where: { $0.name == name }) else { return [] }
    let routers = try RouterLedger.page(home: home.id, after: cursor, limit: Self.step, tx)
    let isFirst = cursor == 0
    cursor = routers.last?.id ?? .max
    return (isFirst && saysPresence ? [renderer.presence(topic)] : [])
      + routers.map { renderer.availability(of: $0, topic) }
  }

  private func cleared(_ publications: [Publication]) -> [Publication] {
    isClearing
      ? publications.map { Publication(topic: $0.topic, payload: [], retain: true) }
      : publications
  }
}
