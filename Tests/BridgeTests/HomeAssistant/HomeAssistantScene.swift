// SPDX-License-Identifier: Apache-2.0

import Broker
import TestKit
import Testing

@testable import Bridge

/// A bridge that announces its devices, and a broker that keeps what it takes.
final class HomeAssistantScene {
  let bridge: TestBridge
  private(set) var outbox: Outbox
  /// What the broker holds below the prefixes.
  private(set) var retained: [String: [UInt8]] = [:]
  /// Messages on each topic.
  private(set) var counts: [String: Int] = [:]
  /// What the broker refuses.
  var refuses: (Publication) -> Bool = { _ in false }

  static let bridgeTopic = "homeassistant/device/threadkeeper/threadkeeper_threadkeeper/config"

  static func topic(_ agent: String, prefix: String = "homeassistant") -> String {
    "\(prefix)/device/threadkeeper/threadkeeper_threadkeeper_\(agent)/config"
  }

  private let pause: Int

  /// - Parameter pause: seconds between two announcements of a device.
  init(pause: Int = 0, _ change: (inout BridgeConfiguration) -> Void = { _ in }) throws {
    self.pause = pause
    bridge = try TestBridge { configuration in
      configuration.homeAssistant.isOn = true
      change(&configuration)
    }
    outbox = try bridge.outbox(devicePause: pause)
  }

  /// The daemon ends, and another one starts with other settings.
  func restart(_ change: (inout BridgeConfiguration) -> Void = { _ in }) throws {
    change(&bridge.configuration)
    try bridge.restart()
    outbox = try bridge.outbox(devicePause: pause)
  }

  /// Everything that is due goes to the broker, and what it answers to disk.
  @discardableResult
  func publish() throws -> [Publication] {
    let sent = try send()
    try tick()
    return sent
  }

  /// What came of the publications is written.
  func tick() throws {
    let results = outbox.deviceResults
    try bridge.database.write { tx in
      try results.write(tx)
      try EventLedger.setPublished(outbox.published, tx)
    }
    outbox.forget(results)
  }

  /// As `publish`, without what is written: the daemon is killed here.
  @discardableResult
  func send() throws -> [Publication] {
    var devices: [Publication] = []
    while case let publications = try outbox.next(20), !publications.isEmpty {
      // As many are on their way when the first answer comes.
      for publication in publications {
        let isDevice = publication.topic.contains("/device/")
        if isDevice {
          devices.append(publication)
          counts[publication.topic, default: 0] += 1
        }
        guard !refuses(publication) else {
          outbox.acknowledge(publication.token, .refused(MosquittoError(.notAuthorized, "no")))
          continue
        }
        if isDevice {
          retained[publication.topic] = publication.payload.isEmpty ? nil : publication.payload
        }
        outbox.acknowledge(publication.token)
      }
    }
    return devices
  }

  func forgetCounts() { counts.removeAll() }

  var rows: [HomeAssistantRecord] {
    get throws { try bridge.database.read { try HomeAssistantLedger.all($0) } }
  }
}
