// SPDX-License-Identifier: Apache-2.0

extension Settings {
  /// Home Assistant's MQTT discovery.
  package struct HomeAssistant: Sendable, Equatable {
    package var discovery: Discovery = .on
    /// Home Assistant's discovery prefix: a topic that no home's base topic equals, contains or lies in.
    package var prefix = "homeassistant"

    package init() {}

    package enum Discovery: String, Sendable, Equatable, CaseIterable {
      /// The daemon and its routers are announced as devices.
      case on
      /// What was announced before is removed.
      case off
    }
  }
}
