// SPDX-License-Identifier: Apache-2.0

import KeychainCore

/// What a command asks about an export or an import of the daemon that holds the store. See
/// docs/reference/daemon-socket.md.
package struct StoreRequest: DaemonRequest {
  package typealias Report = StoreReport

  package enum Command: String, Codable, CaseIterable, Sendable {
    case exportItems = "store/export"
    case importItems = "store/import"
    /// Of the export or import that is under way.
    case progress = "store/progress"
  }

  package var v = DaemonRequestVersion.current
  package var command: Command
  package var secret: StoreSecret?
  /// Its name. The file itself comes open.
  package var file: String?
  package var onConflict: ItemImport.OnConflict?
  /// Of an import: only look.
  package var isTrial: Bool?

  package init(command: Command, secret: StoreSecret? = nil) {
    self.command = command
    self.secret = secret
  }
}

typealias StoreAnswer = DaemonAnswer<StoreReport>
