// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import Settings
import ThreadkeeperDaemon

/// As commands open the store: where nothing at hand opens it, they ask at the terminal.
extension OpenStore {
  static func forReading(_ settings: Settings) throws -> Keychain {
    try forReading(settings, ask: StoreSecret.askNow)
  }

  static func forWriting(_ settings: Settings) throws -> Keychain {
    try forWriting(settings, ask: StoreSecret.askNow)
  }
}
