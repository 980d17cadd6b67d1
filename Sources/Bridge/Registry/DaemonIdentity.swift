// SPDX-License-Identifier: Apache-2.0

import ClientEnrolment
import KeychainCore
import Logging

/// The daemon's own keys at its start. They are made when they are first needed, by `clients`.
enum DaemonIdentity {
  /// Without them the rest of the daemon works: what is sealed is then refused by name.
  static func load(_ enrolments: ClientEnrolmentStore, logger: Logger) throws {
    do {
      try enrolments.keychain.database.read { _ = try enrolments.loadIdentity($0) }
    } catch let error as KeychainError where error.isItemDamaged {
      logger.error("what is sealed cannot be opened", metadata: ["reason": "\(error.message)"])
    }
  }
}
