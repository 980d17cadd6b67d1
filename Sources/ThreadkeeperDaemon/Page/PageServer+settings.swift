// SPDX-License-Identifier: Apache-2.0

import Bridge
import KeychainCore
import Logging
import Settings
import StatusPage

extension PageServer {
  /// Nil where the settings want none, or where there is a token that cannot be read.
  ///
  /// - Parameter listening: called with the port, when it can be reached.
  package init?(
    _ context: OperationContext,
    listening: @escaping @Sendable (_ port: Int) -> Void = { _ in }
  ) {
    let (settings, logger) = (context.settings, context.logger)
    let http = settings.http
    guard http.isEnabled else { return nil }
    // Other users' commands may pass over a token file that they cannot read. Whoever listens may not, also not on
    // loopback: every user of the machine reaches it there.
    guard !http.isTokenUnreadable,
      http.token != nil || http.trustedProxy != nil || HostName.isLoopback(http.address)
    else {
      logger.error(
        "the HTTP server is not started: its token cannot be read",
        metadata: [
          "address": "\(http.address)",
          "remedy":
            "let the daemon's user read \(http.tokenFile(besideStore: settings.store.path)), then restart",
        ])
      return nil
    }
    self.init(
      PageConfiguration(
        address: http.address, port: Int(http.port), names: http.names,
        token: http.token?.revealed, trustedProxy: http.trustedProxy,
        trustedProxyChanges: http.trustedProxyChanges),
      source: PageFacts(context),
      logger: logger,
      listening: listening)
  }
}
