// SPDX-License-Identifier: Apache-2.0

import ClientEnrolment
import KeychainCore
import Logging
import SealedEnvelope

/// The keeper's own keys at its start.
enum KeeperIdentity {
  /// Makes them where there are none. Without them the rest of the keeper works: what is sealed is then
  /// refused, and said.
  static func load(_ keychain: Keychain, logger: Logger) throws -> Identity? {
    let store = KeeperIdentityStore(keychain)
    do {
      if case .readOnly = keychain.condition {
        return try keychain.database.read { try store.find($0) }
      }
      return try keychain.database.write { try store.findOrMake($0) }
    } catch let error as KeychainError where error.status == .decode {
      logger.error("what is sealed cannot be opened", metadata: ["reason": "\(error.message)"])
      return nil
    }
  }
}
