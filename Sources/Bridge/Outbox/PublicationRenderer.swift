// SPDX-License-Identifier: Apache-2.0

import Broker
import SQLiteDatabase
import ThreadDataset

/// Renders rows to publications. State is rendered from the registry when it is sent, so that many
/// changes become one publication.
struct PublicationRenderer {
  let homes: [Int64: HomeRecord]
  let bases: [String: String]
  private let json = WireJSON()

  init(topics: BaseTopics, _ tx: ReadTransaction) throws {
    var bases: [String: String] = [:]
    for home in topics.homes { bases[home.name] = home.base }
    self.bases = bases
    var homes: [Int64: HomeRecord] = [:]
    for home in try HomeLedger.all(tx) { homes[home.id] = home }
    self.homes = homes
  }

  /// All that one event row asks for; states first, so that a client that receives the event finds them.
  func publications(for event: EventRecord, _ tx: ReadTransaction) throws -> [Publication] {
    guard let home = homes[event.home], let base = bases[home.name] else { return [] }
    let topic = OutboundTopic(base: base)
    var publications: [Publication] = []
    if event.types.contains(.routerLeft), let agent = event.router {
      if try RouterLedger.find(agent, home: home.id, tx)?.isPresent != true {
        publications += emptied(agent, topic)
      }
    } else if let agent = event.router, !event.types.contains(.messageRejected),
      let router = try RouterLedger.find(agent, home: home.id, tx), router.isPresent,
      router.generation == event.id
    {
      publications += states(of: router, home: home, topic)
    } else if event.router == nil, event.alert == nil,
      event.types.isDisjoint(with: .consent), let network = event.network
    {
      publications += try states(of: network, generation: event.id, home: home, topic, tx)
    }
    if let fingerprint = event.alert {
      publications += try alert(fingerprint, event, home: home, topic, tx)
    } else {
      publications += events(event, topic)
    }
    return publications
  }

  func states(of router: RouterRecord, home: HomeRecord, _ topic: OutboundTopic) -> [Publication] {
    [
      Publication(
        topic: topic.router(router.agent), payload: json.encode(router.state(home: home.name)),
        retain: true),
      availability(of: router, topic),
    ]
  }

  func availability(of router: RouterRecord, _ topic: OutboundTopic) -> Publication {
    Publication(
      topic: topic.availability(router.agent),
      payload: json.encode(router.isOnline ? BridgeState.online : BridgeState.offline), retain: true
    )
  }

  /// That the daemon is there.
  func presence(_ topic: OutboundTopic) -> Publication {
    Publication(topic: topic.state, payload: json.encode(BridgeState.online), retain: true)
  }

  func emptied(_ agent: BorderAgentID, _ topic: OutboundTopic) -> [Publication] {
    [topic.router(agent), topic.availability(agent)].map {
      Publication(topic: $0, payload: [], retain: true)
    }
  }

  func state(
    of network: NetworkRecord, home: HomeRecord, _ topic: OutboundTopic, _ tx: ReadTransaction
  ) throws -> Publication {
    let isAccepted = try AcceptedNetworkLedger.contains(network.network, home: home.id, tx)
    return Publication(
      topic: topic.network(network.network),
      payload: json.encode(network.state(in: home, isAccepted: isAccepted)),
      retain: true)
  }

  func state(of alert: AlertRecord, home: HomeRecord, _ topic: OutboundTopic) -> Publication {
    Publication(
      topic: topic.alert(alert.fingerprint), payload: json.encode(alert.state(home: home.name)),
      retain: true,
      messageExpiry: alert.phase == .firing ? nil : UInt32(AlertState.resolvedRetention))
  }

  private func states(
    of network: ExtendedPANID, generation: Int64, home: HomeRecord, _ topic: OutboundTopic,
    _ tx: ReadTransaction
  ) throws -> [Publication] {
    guard let record = try NetworkLedger.find(network, home: home.id, tx) else {
      return [Publication(topic: topic.network(network), payload: [], retain: true)]
    }
    return record.generation == generation
      ? [try state(of: record, home: home, topic, tx)] : []
  }

  private func alert(
    _ fingerprint: AlertFingerprint, _ event: EventRecord, home: HomeRecord,
    _ topic: OutboundTopic, _ tx: ReadTransaction
  ) throws -> [Publication] {
    var publications: [Publication] = []
    if let alert = try AlertLedger.find(fingerprint, tx), alert.wasPublished {
      publications.append(state(of: alert, home: home, topic))
    } else {
      publications.append(
        Publication(topic: topic.alert(fingerprint), payload: [], retain: true))
    }
    if let payload = event.json {
      publications.append(Publication(topic: topic.alertEvent, payload: payload))
    }
    return publications
  }

  private func events(_ event: EventRecord, _ topic: OutboundTopic) -> [Publication] {
    var publications: [Publication] = []
    for (type, name) in OutboundEventTypes.names where event.types.contains(type) {
      var body = OutboundEvent(eventType: name, time: event.time)
      body.borderAgentID = event.router?.description
      body.extendedPANID = event.network?.description
      body.user = event.user
      let payload = body.json(with: event.json)
      publications.append(Publication(topic: topic.event, payload: payload))
      if let agent = event.router, type != .messageRejected {
        publications.append(Publication(topic: topic.routerEvent(agent), payload: payload))
      }
    }
    return publications
  }
}
