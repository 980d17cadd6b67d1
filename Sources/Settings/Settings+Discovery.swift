// SPDX-License-Identifier: Apache-2.0

extension Settings {
  /// Border routers that are found on the local network.
  package struct Discovery: Sendable, Equatable {
    package enum MDNS: String, Sendable, CaseIterable {
      /// On where avahi-daemon answers.
      case auto
      case off
    }

    package var mdns = MDNS.auto

    package init() {}
  }
}
