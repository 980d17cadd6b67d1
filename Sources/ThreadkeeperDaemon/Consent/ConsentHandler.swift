// SPDX-License-Identifier: Apache-2.0

import Bridge
import KeychainCore

/// Answers `consent …` in the daemon.
typealias ConsentHandler = DaemonRequestHandler<ConsentMessage>

extension ConsentHandler {
  /// - Parameter consents: decides, and has those who wait answered.
  init(keychain: Keychain, consents: ConsentDesk) {
    self.init(queue: "consent") { message, user in
      let id = message.id ?? ""
      let service = ConsentService(keychain)
      switch message.command {
      case .list: return try service.list(namingHome: consents.hasSeveralHomes)
      case .grants: return try service.grants()
      case .history: return try service.history(message.limit)
      case .approve:
        return ConsentReport(
          decision: .init(try consents.approve(id, message.scope ?? .once, by: user)))
      case .deny: return ConsentReport(decision: .init(try consents.deny(id, by: user)))
      case .revoke: return ConsentReport(grants: [.init(try consents.revoke(id, by: user))])
      }
    }
  }
}
