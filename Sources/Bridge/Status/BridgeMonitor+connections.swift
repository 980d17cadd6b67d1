// SPDX-License-Identifier: Apache-2.0

import Broker
import Home

/// What the broker, and other clients of it, do to the two connections.
extension BridgeMonitor {
  // MARK: Logins and sessions

  /// The user name or the password is another one from now on.
  func loginChanged() {
    update {
      $0.intakeLogin = .unknown
      $0.statusLogin = .unknown
    }
  }

  /// Takes note when a connection was not made because the broker refuses the login.
  ///
  /// - Returns: whether the end of the connection is news. A login that is refused again for the
  ///   same reason is not: it is tried for as long as the daemon runs.
  func noteRefusal(
    _ event: MosquittoDisconnection, at connection: WritableKeyPath<Snapshot, Login> & Sendable
  ) -> Bool {
    // A connection that was let in is lost for another reason, whatever it is called.
    guard event.error.reason == .credentials, !event.wasConnected else { return true }
    let refused = Login.refused(event.error.message)
    return update { snapshot in
      defer { snapshot[keyPath: connection] = refused }
      return snapshot[keyPath: connection] != refused
    }
  }

  /// Notes that another client took over the session of a connection.
  ///
  /// - Returns: whether this end of the connection is worth a line of the log: the first of a contest is.
  func noteTakeover(
    _ event: MosquittoDisconnection, of connection: WritableKeyPath<Snapshot, String?> & Sendable
  ) -> Bool {
    guard event.error.reason == .sessionTakenOver else { return true }
    return update { snapshot in
      defer { snapshot[keyPath: connection] = event.error.message }
      return snapshot[keyPath: connection] == nil
    }
  }

  // MARK: Altered devices

  /// Another client has written where the daemon announces a device to Home Assistant.
  struct AlteredDevice: Sendable, Equatable {
    /// Seconds for which it counts, and for which nothing is decided by buttons where it had some.
    static let seconds = 60

    let topic: String
    let home: String
    var at: WireTime
  }

  /// - Parameter isButton: whether it is the device of a request, or of a network that can be preferred.
  /// - Returns: whether this is news.
  func noteAltered(_ topic: String, home: String, isButton: Bool, at now: WireTime) -> Bool {
    let isNews = alteredDevice(at: now) == nil
    update {
      $0.alteredDevice = AlteredDevice(topic: topic, home: home, at: now)
      if isButton { $0.alteredButtonAt = now }
    }
    return isNews
  }

  /// Whether a device with buttons was altered less than a minute ago: nothing is decided by buttons.
  func refusesButtons(at now: WireTime) -> Bool {
    guard let altered = snapshot.alteredButtonAt else { return false }
    return now < altered.adding(seconds: AlteredDevice.seconds)
  }

  /// The device that was altered less than a minute ago.
  func alteredDevice(at now: WireTime) -> AlteredDevice? {
    snapshot.alteredDevice.flatMap {
      now < $0.at.adding(seconds: AlteredDevice.seconds) ? $0 : nil
    }
  }
}
