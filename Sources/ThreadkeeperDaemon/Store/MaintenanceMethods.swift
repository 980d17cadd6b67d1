// SPDX-License-Identifier: Apache-2.0

import VarlinkSocket

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The part of `io.threadkeeper.Store` about verification and backups.
extension StoreMethods {
  private static let interface = VarlinkInterface.store.name

  package static let verify = VarlinkStream<VarlinkNothing, VerificationStep>(
    interface, "Verify", for: .owner)
  package static let backup = VarlinkStream<VarlinkNothing, BackupStep>(
    interface, "Backup", for: .owner)
}

/// A reply of a verification: how far it is, or what it found.
package struct VerificationStep: Codable, Sendable {
  package var progress: ExchangeStep.Progress?
  /// The last one.
  package var verified: VerificationOutcome?
}

/// A reply of a backup: how far it is, or a part of what comes of it.
package struct BackupStep: Codable, Sendable {
  package var progress: ExchangeStep.Progress?
  /// The next bytes of the file, as base64.
  package var data: Data?
  /// The last one.
  package var made: BackupOutcome?
}
