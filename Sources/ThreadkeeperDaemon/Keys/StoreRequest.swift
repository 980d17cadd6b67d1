// SPDX-License-Identifier: Apache-2.0

import KeychainCore

/// What a command asks of the daemon that holds the store. See docs/reference/daemon-socket.md.
package struct StoreRequest: DaemonRequest {
  package typealias Report = StoreReport

  package enum Command: String, Codable, CaseIterable, Sendable {
    case listKeys = "keys/list"
    case addKey = "keys/add"
    case removeKey = "keys/remove"
    case rotateKeys = "keys/rotate"
    case rotation = "keys/rotation"
    case lock = "store/lock"
    case unlock = "store/unlock"
    case exportItems = "store/export"
    case importItems = "store/import"
    /// Of the export or import that is under way.
    case progress = "store/progress"
  }

  package var v = DaemonRequestVersion.current
  package var command: Command
  package var secret: StoreSecret?
  package var label: String?
  package var slot: Int64?
  /// Of `keys/remove`: also the last passphrase, or what leaves no slot that is known to open. Of
  /// `keys/rotate`: also when slots go.
  package var isConfirmed: Bool?
  /// Of `keys/rotate`: new root keys too, sealed for these.
  package var roots: [StoreSecret]?
  /// With new root keys: deletes the items for this device only whose device key is gone.
  package var deletesDeviceItems: Bool?
  /// Of an export or import: its name. The file itself comes open.
  package var file: String?
  package var onConflict: ItemImport.OnConflict?
  /// Of an import: only look.
  package var isTrial: Bool?

  package init(
    command: Command, secret: StoreSecret? = nil, label: String? = nil, slot: Int64? = nil,
    isConfirmed: Bool? = nil, roots: [StoreSecret]? = nil, deletesDeviceItems: Bool? = nil
  ) {
    self.command = command
    self.secret = secret
    self.label = label
    self.slot = slot
    self.isConfirmed = isConfirmed
    self.roots = roots
    self.deletesDeviceItems = deletesDeviceItems
  }
}

/// What comes of it.
package struct StoreReport: Codable, Sendable {
  package struct Slot: Codable, Sendable {
    package enum Opens: String, Codable, Sendable {
      case yes, no
      /// It takes something that is not at hand.
      case notTried = "not_tried"
    }

    package var id: Int64
    package var kind: String
    package var label: String
    /// RFC 3339.
    package var created: String
    package var opens: Opens
  }

  package struct Rotation: Codable, Equatable, Sendable {
    package var running = false
    package var finished = false
    /// True while the one that is wanted waits for another, which makes no new keys.
    package var queued: Bool?
    package var resumed = false
    package var renewed = 0
    package var items = 0
    package var locked = 0
    package var damaged = 0
    package var retiredKeys = 0
    package var problem: String?
    /// The exit status that goes with it.
    package var exit: Int32?

    package init(running: Bool = false) {
      self.running = running
    }
  }

  package struct Progress: Codable, Sendable {
    package var done: Int
    package var total: Int
  }

  package var slots: [Slot]?
  package var removed: [Slot]?
  /// Items for this device only that wait for their device key.
  package var waiting: Int?
  /// Such items that were deleted.
  package var deleted: Int?
  /// What is wrong with the device key in its place.
  package var deviceKeyProblem: String?
  /// The path of a key file that was made.
  package var keyFileMade: String?
  /// The file of the device key was lost, and the daemon that had it has written it again.
  package var deviceKeyWritten: Bool?
  package var rotation: Rotation?
  /// Whether what is accessible "when unlocked" can be reached.
  package var unlocked: Bool?
  /// Whether it takes a passphrase or a recovery code to reach it.
  package var guarded: Bool?
  package var exported: ExportOutcome?
  package var imported: ImportOutcome?
  package var progress: Progress?
}

typealias StoreAnswer = DaemonAnswer<StoreReport>
