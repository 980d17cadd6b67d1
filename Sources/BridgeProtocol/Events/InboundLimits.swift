// SPDX-License-Identifier: Apache-2.0

/// How much of an untrusted message is read.
package enum InboundLimits {
  /// Bytes of a payload. The largest useful event holds a dataset of 254 bytes (508 hex digits)
  /// and a handful of names; sealed envelopes add a third and some. Ten times that is generous.
  package static let payloadBytes = 16_384
  /// Objects and arrays within each other. Events are flat; eight leaves room for a publisher's own
  /// additions.
  package static let nesting = 8
  /// Characters of a name, vendor, model, SSID, access point or event id. An SSID has at most 32
  /// bytes (IEEE 802.11), a DNS-SD instance name 63 (RFC 6763).
  package static let textCharacters = 128
  /// Bytes of a user's name. MQTT allows 65,535 (MQTT 5.0, section 3.1.3.5), and each would be
  /// repeated in states, events and alerts.
  package static let userBytes = 256
}
