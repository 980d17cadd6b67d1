// SPDX-License-Identifier: Apache-2.0

/// How hard the broker and the client try to deliver a message (MQTT 5.0, section 4.3).
///
/// QoS 2 is left out on purpose. For it libmosquitto answers PUBREC before any callback and keeps
/// the payload in memory until PUBREL, so a crash in between loses the message. QoS 1 together
/// with decisions that may be repeated is the stronger promise.
package enum QualityOfService: UInt8, Sendable {
  /// Fire and forget.
  case atMostOnce = 0
  /// Acknowledged, and repeated until it is.
  case atLeastOnce = 1
}

extension QualityOfService: ExpressibleByIntegerLiteral {
  /// `0`, or `1` for everything above: a receiver that grants less than was asked is normal in MQTT.
  package init(integerLiteral value: UInt8) {
    self = value == 0 ? .atMostOnce : .atLeastOnce
  }
}
