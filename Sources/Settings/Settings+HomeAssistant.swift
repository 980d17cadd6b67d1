// SPDX-License-Identifier: Apache-2.0

extension Settings {
  /// Home Assistant's MQTT discovery.
  package struct HomeAssistant: Sendable, Equatable {
    package var discovery: Discovery = .on
    /// Home Assistant's discovery prefix: a topic that no home's base topic equals, contains or lies in.
    package var prefix = "homeassistant"

    package var consent: Consent = .adoptions
    /// Home Assistant's login at the broker. Nil: it decides nothing.
    package var login: String?

    package init() {}

    /// What Home Assistant may decide about, in plaintext.
    package enum Consent: String, Sendable, Equatable, CaseIterable {
      case off
      /// Whether a router that is enrolled is given the preferred credentials, sealed to it.
      case adoptions
      /// Whatever waits for a person.
      case all
    }

    /// The login that decides about something.
    package var approver: String? { consent == .off ? nil : login }

    /// Byte by byte, as the broker has it.
    package func isApprover(_ user: String) -> Bool {
      approver?.utf8.elementsEqual(user.utf8) == true
    }

    package enum Discovery: String, Sendable, Equatable, CaseIterable {
      /// The daemon and its routers are announced as devices.
      case on
      /// What was announced before is removed.
      case off
    }
  }
}
