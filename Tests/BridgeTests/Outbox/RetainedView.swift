// SPDX-License-Identifier: Apache-2.0

import Broker
import Foundation
import TestKit

@testable import Bridge

/// What a broker holds after it was told this and that: the last retained payload of every topic, and
/// everything else in its order.
struct RetainedView {
  private(set) var retained: [String: [UInt8]] = [:]
  private(set) var events: [Publication] = []

  mutating func take(_ publication: Publication) {
    guard publication.retain else {
      events.append(publication)
      return
    }
    retained[publication.topic] = publication.payload.isEmpty ? nil : publication.payload
  }

  /// The `event_type`s on a topic.
  func types(on topic: String) -> [String] {
    events.filter { $0.topic == topic }.compactMap { $0.object["event_type"] as? String }
  }
}

extension Publication {
  /// The payload as JSON; empty when it is none.
  var object: [String: Any] {
    (try? JSONSerialization.jsonObject(with: Data(payload)) as? [String: Any]) ?? [:]
  }
}

extension Outbox {
  /// Everything that is due, acknowledged at once.
  func drain(_ limit: Int = 20) throws -> [Publication] {
    var all: [Publication] = []
    while true {
      let publications = try next(limit)
      if publications.isEmpty { return all }
      all += publications
      for publication in publications { acknowledge(publication.token) }
    }
  }
}

extension TestBridge {
  /// - Parameter devicePause: seconds between two announcements of a device of Home Assistant.
  func outbox(_ monitor: BridgeMonitor = BridgeMonitor(), devicePause: Int = 0) throws -> Outbox {
    let consentOverviews = consentOverviews
    return try Outbox(
      database: database, topics: configuration.topics,
      overview: AlertsOverviewSource(topics: configuration.topics, monitor: monitor),
      consents: consentOverviews,
      devices: HomeAssistantDevices(configuration, consentOverviews.questions),
      devicePace: HomeAssistantPace(seconds: devicePause) { [clock] in clock.now() })
  }

  var consentOverviews: ConsentOverviewSource {
    ConsentOverviewSource(
      topics: configuration.topics,
      questions: HomeAssistantQuestions(configuration, temporary.keychain) { [clock] in clock.now()
      })
  }

  /// What a republication of everything would leave on an empty broker.
  func republished() throws -> [String: [UInt8]] {
    let outbox = try outbox()
    _ = try outbox.drain()
    outbox.republishAll()
    var view = RetainedView()
    for publication in try outbox.drain() { view.take(publication) }
    return view.retained
  }
}
