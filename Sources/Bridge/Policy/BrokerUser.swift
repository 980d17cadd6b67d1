// SPDX-License-Identifier: Apache-2.0

import Broker

/// The broker's logins are compared by their bytes: to Swift an accented letter equals its two parts,
/// but to the broker they are two users.
enum BrokerUser {
  static func isSame(_ a: String, _ b: String) -> Bool { a.hasBytes(of: b) }
}
