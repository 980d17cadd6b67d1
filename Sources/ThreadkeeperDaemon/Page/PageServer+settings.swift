// SPDX-License-Identifier: Apache-2.0

import Bridge
import KeychainCore
import Logging
import Settings
import StatusPage

extension PageServer {
  /// Nil where the settings want none.
  init?(_ settings: Settings, bridge: Bridge, keychain: Keychain, logger: Logger) {
    let http = settings.http
    guard http.isEnabled else { return nil }
    self.init(
      PageConfiguration(
        address: http.address, port: Int(http.port), names: http.names,
        token: http.token?.revealed),
      source: PageFacts(settings, bridge: bridge, keychain: keychain), logger: logger)
  }
}
