// SPDX-License-Identifier: Apache-2.0

import Broker
import Foundation
import TestKit
import Testing

@testable import Bridge

/// A broker that keeps the buttons of requests, and checks that none is ever about another one.
final class ButtonBroker {
  /// A button as Home Assistant has it.
  struct Button {
    let uniqueID: String
    let name: String
    /// What is published by a press.
    let pressed: [String: Any]
  }

  private static let start = "homeassistant/device/threadkeeper/threadkeeper_threadkeeper_c-"
  private let bridge: TestBridge
  private var outbox: Outbox
  /// By the id of the request: what the broker holds.
  private(set) var devices: [String: [String: Any]] = [:]
  /// How often each topic was announced, and emptied.
  private(set) var announced: [String: Int] = [:]
  private(set) var emptied: [String: Int] = [:]
  /// Publications of the daemon's own device, and of the list of requests.
  private(set) var bridgeDevices = 0
  private(set) var overview: [String: Any] = [:]
  private var requests: [String: String] = [:]

  init(_ bridge: TestBridge) throws {
    self.bridge = bridge
    outbox = try bridge.outbox(devicePause: 5)
  }

  /// Another process publishes from now on.
  func restart() throws { outbox = try bridge.outbox(devicePause: 5) }

  /// All is sent, and what the broker answers is written.
  func publish(republishing: Bool = false) throws {
    if republishing { outbox.republishAll() }
    for publication in try outbox.drain() { try take(publication) }
    let results = outbox.deviceResults
    try bridge.database.write { tx in
      try results.write(tx)
      try EventLedger.setPublished(outbox.published, tx)
    }
    outbox.forget(results)
  }

  private func take(_ publication: Publication) throws {
    let topic = publication.topic
    if topic == HomeAssistantScene.bridgeTopic {
      bridgeDevices += 1
      #expect(!String(decoding: publication.payload, as: UTF8.self).contains("consent"))
    }
    if topic == "threadkeeper/bridge/consent" { overview = publication.object }
    guard topic.hasPrefix(Self.start) else { return }
    #expect(publication.retain && publication.qos == 1)
    let id = String(topic.dropFirst(Self.start.count - 2).prefix(18))
    guard !publication.payload.isEmpty else {
      #expect(devices.removeValue(forKey: id) != nil)
      emptied[id, default: 0] += 1
      return
    }
    devices[id] = publication.object
    announced[id, default: 0] += 1
    for button in try buttons(of: id) {
      #expect(button.pressed["id"] as? String == id)
      #expect(requests.updateValue(id, forKey: button.uniqueID) ?? id == id)
    }
  }

  /// Approve, then deny.
  func buttons(of id: String) throws -> [Button] {
    let device = try #require(devices[id])
    let components = try #require(device["components"] as? [String: [String: Any]])
    #expect(Set(components.keys) == ["consent_approve", "consent_deny"])
    return try components.sorted { $0.key < $1.key }.map { _, button in
      let text = try #require(button["payload_press"] as? String)
      return Button(
        uniqueID: try #require(button["unique_id"] as? String),
        name: try #require(button["name"] as? String),
        pressed: try #require(
          try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]))
    }
  }

  /// The requests that have buttons.
  var asked: Set<String> { Set(devices.keys) }

  /// Those that `bridge/consent` lists for Home Assistant.
  var listed: [String] {
    (overview["home_assistant"] as? [[String: Any]] ?? []).compactMap { $0["id"] as? String }
  }
}
