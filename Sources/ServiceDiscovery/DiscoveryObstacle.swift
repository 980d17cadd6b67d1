// SPDX-License-Identifier: Apache-2.0

import CLibAvahi

/// Why services cannot be found on this machine, and what to do about it.
package struct DiscoveryObstacle: Error, Sendable, Equatable {
  /// One sentence.
  package let message: String
  /// What to do, as an imperative.
  package let remedy: String

  package init(message: String, remedy: String) {
    self.message = message
    self.remedy = remedy
  }
}

extension DiscoveryObstacle {
  static let noDaemon = DiscoveryObstacle(
    message: "avahi-daemon does not answer.",
    remedy: "Install and start it: `apt-get install avahi-daemon`.")

  static let noBus = DiscoveryObstacle(
    message: "The system's D-Bus does not answer, so avahi-daemon cannot be asked.",
    remedy: "Install and start both: `apt-get install dbus avahi-daemon`.")

  static let noResources = DiscoveryObstacle(
    message: "The system has no memory, thread or file descriptor left to look for services.",
    remedy: "Raise the limits of the daemon, or stop what uses them up.")

  static func invalidType(_ type: String) -> DiscoveryObstacle {
    DiscoveryObstacle(
      message: "`\(type)` is not a service type.",
      remedy: "Name one such as `_meshcop._udp` (RFC 6763, section 7).")
  }

  /// What an error of `avahi_client_new` means.
  ///
  /// - Parameter code: see avahi-common/error.h.
  init(ofNewClient code: Int32) {
    switch Int(code) {
    // With AVAHI_CLIENT_NO_FAIL a missing avahi-daemon is no error. Without its socket, libavahi-client calls the bus
    // "daemon"; other errors of D-Bus are a failure.
    case AVAHI_ERR_NO_DAEMON, AVAHI_ERR_FAILURE, AVAHI_ERR_DBUS_ERROR, AVAHI_ERR_DISCONNECTED:
      self = .noBus
    default:
      self.init(code: code)
    }
  }

  /// What an error of a client means that has reached the bus.
  init(code: Int32) {
    switch Int(code) {
    case AVAHI_ERR_DISCONNECTED, AVAHI_ERR_NO_DAEMON, AVAHI_ERR_FAILURE, AVAHI_ERR_DBUS_ERROR:
      self = .noDaemon
    case AVAHI_ERR_NO_MEMORY: self = .noResources
    default:
      self.init(
        message:
          "avahi-daemon refuses to look for services: \(String(cString: avahi_strerror(code))).",
        remedy: "See its log: `journalctl --unit avahi-daemon`.")
    }
  }
}
