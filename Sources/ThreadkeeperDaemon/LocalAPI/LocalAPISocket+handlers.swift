// SPDX-License-Identifier: Apache-2.0

import Bridge
import Logging
import Settings

extension LocalAPISocket {
  /// With the table of all that can be asked: a handler for each interface.
  ///
  /// - Parameter runtime: how the daemon is now.
  init(
    _ settings: Settings, bridge: Bridge, store: StoreService, logins: BrokerLoginService,
    runtime: @escaping @Sendable () -> DaemonState, logger: Logger
  ) {
    let keychain = store.keychain
    self.init(
      settings: settings,
      handlers: [
        StatusHandler(settings: settings, keychain: keychain, runtime: runtime),
        RoutersHandler(settings, ownership: bridge.ownership, acceptance: bridge.acceptance),
        EnrolmentHandler(settings, enrolments: bridge.enrolments, logger: logger),
        ConsentHandler(keychain: keychain, consents: bridge.consents),
        ListsHandler(settings: settings, keychain: keychain),
        AuditHandler(keychain: keychain),
        KeysHandler(service: store),
        StoreHandler(
          maintenance: MaintenanceService(settings, keychain: keychain, logger: logger)),
        LoginHandler(service: logins),
      ] + RequestHandler.all(settings, requests: bridge.requests), logger: logger)
    finished = { [figures = bridge.monitor.figures] in figures.localCalls.add($1, to: $0) }
  }
}
