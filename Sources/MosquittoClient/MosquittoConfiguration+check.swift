// SPDX-License-Identifier: Apache-2.0

extension MosquittoConfiguration {
  /// Throws what can never work, with the name of the setting. libmosquitto would answer each of
  /// these with the same "invalid argument", or cut a string at its first zero byte.
  package func check() throws(MosquittoError) {
    try Self.check(host, "mqtt.host")
    try Self.check(clientID, "mqtt.client_id")
    guard !clientID.contains("+"), !clientID.contains("#") else {
      throw .invalid(
        "mqtt.client_id", "contains `+` or `#`: Mosquitto denies everything to such a client")
    }
    if let username { try Self.check(username, "mqtt.username") }
    if let password { try Self.check(password, "mqtt.password") }
    guard port != 0 else { throw .invalid("mqtt.port", "must be between 1 and 65535") }
    guard username != nil || password == nil else {
      throw .invalid("mqtt.username", "is missing: `mqtt.password` needs it")
    }
    guard keepAlive == 0 || keepAlive >= 5 else {
      throw .invalid("mqtt.keep_alive", "must be 0 or at least 5 seconds")
    }
    guard receiveMaximum > 0, sendMaximum > 0, batchMessages > 0, batchBytes > 0 else {
      throw .invalid("mqtt", "the limits for batches and windows must be at least 1")
    }
    guard (0...1).contains(reconnect.jitter) else {
      throw .invalid("mqtt.reconnect", "the jitter must be between 0 and 1")
    }
    if let tls, (tls.certificateFile == nil) != (tls.keyFile == nil) {
      throw .invalid(
        "mqtt.tls", "`mqtt.tls.cert_file` and `mqtt.tls.key_file` only work together")
    }
    for subscription in subscriptions where !subscription.filter.isValidFilter {
      throw .invalid("mqtt.base_topic", "gives `\(subscription.filter)`, which is no topic filter")
    }
    if let lastWill {
      guard lastWill.topic.isValidTopic else {
        throw .invalid("mqtt.base_topic", "gives `\(lastWill.topic)`, which is no topic")
      }
      // The length field of a will's payload has 16 bits, and libmosquitto cuts without a word.
      guard lastWill.payload.count <= Int(UInt16.max) else {
        throw .invalid("mqtt", "a last will holds at most 65535 bytes")
      }
    }
  }

  private static func check(_ value: String, _ setting: String) throws(MosquittoError) {
    guard !value.isEmpty else { throw .invalid(setting, "is empty") }
    guard !value.utf8.contains(0) else { throw .invalid(setting, "contains a zero byte") }
    guard value.utf8.count <= Int(UInt16.max) else { throw .invalid(setting, "is too long") }
  }
}

extension String {
  /// A topic to publish to: not empty, no wildcard, no zero byte (which would end it early in C),
  /// at most 65,535 bytes (MQTT 5.0, section 4.7.3).
  var isValidTopic: Bool {
    !isEmpty && utf8.count <= Int(UInt16.max)
      && !utf8.contains { $0 == 0 || $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "#") }
  }

  /// A filter to subscribe to: wildcards stand alone in a level, `#` only in the last.
  var isValidFilter: Bool {
    guard !isEmpty, utf8.count <= Int(UInt16.max), !utf8.contains(0) else { return false }
    let levels = split(separator: "/", omittingEmptySubsequences: false)
    for (index, level) in levels.enumerated() {
      if level.contains("#"), level != "#" || index != levels.count - 1 { return false }
      if level.contains("+"), level != "+" { return false }
    }
    return true
  }
}
