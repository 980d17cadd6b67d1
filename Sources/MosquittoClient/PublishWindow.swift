// SPDX-License-Identifier: Apache-2.0

/// The publications under way: what they are called here (token) and at the broker (packet
/// identifier). A pure value.
///
/// Only QoS 1 counts against the broker's receive maximum (MQTT 5.0, section 4.9). The library must
/// never have to hold one back: it would send it from inside the handling of an acknowledgement.
struct PublishWindow {
  struct Entry {
    var token: UInt64
    var topic: String
    var sentAt: ContinuousClock.Instant
  }

  let maximum: Int
  private var acknowledging: [UInt16: Entry] = [:]
  private var writing: [UInt16: Entry] = [:]

  init(maximum: Int) {
    self.maximum = maximum
  }

  var room: Int { maximum - acknowledging.count }
  var isEmpty: Bool { acknowledging.isEmpty && writing.isEmpty }

  /// When the oldest publication was sent that the broker has not acknowledged.
  var oldest: ContinuousClock.Instant? { acknowledging.values.map(\.sentAt).min() }

  mutating func add(
    _ publication: Publication, identifier: UInt16, at now: ContinuousClock.Instant = .now
  ) {
    let entry = Entry(token: publication.token, topic: publication.topic, sentAt: now)
    switch publication.qos {
    case .atLeastOnce: acknowledging[identifier] = entry
    case .atMostOnce: writing[identifier] = entry
    }
  }

  mutating func acknowledge(_ identifier: UInt16) -> Entry? {
    acknowledging.removeValue(forKey: identifier)
  }

  mutating func written(_ identifier: UInt16) -> Entry? {
    writing.removeValue(forKey: identifier)
  }
}
