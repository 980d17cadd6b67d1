// SPDX-License-Identifier: Apache-2.0

import Broker

/// Another client may write where the daemon announces its devices to Home Assistant, and alter what a button
/// publishes. So the daemon listens there, and publishes again what was altered.
extension StatusConnection {
  /// Altered devices that wait at most; each is one of the daemon's own topics.
  private static let mostAltered = 1_000

  func checkDevice(_ message: IncomingMessage) {
    guard let retained,
      // What the broker keeps may be an earlier text of ours.
      message.isRetained
        || !state.withLock({ $0.ownDevices.contains(message.topic, message.payload) })
    else { return }
    do {
      guard let device = try retained.correction(ofDevice: message) else { return }
      // Home Assistant itself empties the topic of a device that a person deletes there. What waits keeps its buttons.
      guard !message.payload.isEmpty || device.isButton else { return }
      state.withLock { state in
        guard state.alteredDevices.count < Self.mostAltered else { return }
        state.alteredDevices.insert(message.topic)
      }
      // What the broker kept may be an earlier text of our own, which a broker that was killed brings back.
      guard !message.isRetained, !message.payload.isEmpty else { return }
      let now = clock.now()
      let isNews = monitor.noteAltered(
        message.topic, home: device.home, isButton: device.isButton, at: now)
      guard isNews else { return }
      logger.warning(
        "another client has altered a device of threadkeeper in Home Assistant; it is published again",
        metadata: [
          "topic": "\(message.topic)",
          "remedy": "put what `threadkeeper acl` prints into the broker's access list",
        ])
    } catch {
      noteFailure(error, of: .registry, "the registry cannot be read")
    }
  }

  /// Once a second, so that two clients that write the same topic do not drive each other.
  func restoreDevices() {
    let topics = state.withLock { state in
      defer { state.alteredDevices.removeAll() }
      return state.alteredDevices
    }
    guard let retained, !topics.isEmpty else { return }
    do {
      // As they are now: a request may be settled since.
      let publications = try retained.wantedDevices(on: topics)
      state.withLock { $0.queue += publications }
    } catch {
      noteFailure(error, of: .registry, "the registry cannot be read")
    }
  }
}

/// The last of what was published. With MQTT 5 the broker does not send it back.
struct RecentHashes: Sendable {
  private static let most = 512
  private var hashes: [Int] = []
  private var next = 0

  mutating func add(_ topic: String, _ payload: [UInt8]) {
    let hash = Self.hash(topic, payload)
    if hashes.count < Self.most {
      hashes.append(hash)
    } else {
      hashes[next] = hash
      next = (next + 1) % Self.most
    }
  }

  func contains(_ topic: String, _ payload: [UInt8]) -> Bool {
    hashes.contains(Self.hash(topic, payload))
  }

  private static func hash(_ topic: String, _ payload: [UInt8]) -> Int {
    var hasher = Hasher()
    hasher.combine(topic)
    hasher.combine(payload)
    return hasher.finalize()
  }
}
