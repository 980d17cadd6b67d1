// SPDX-License-Identifier: Apache-2.0

import KeychainCore

/// What a command asks of the keeper that holds the store. See docs/reference/daemon-socket.md.
struct StoreRequest: KeeperRequest {
  typealias Report = StoreReport

  enum Command: String, Codable, CaseIterable, Sendable {
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

  var v = KeeperVersion.current
  var command: Command
  var secret: StoreSecret?
  var label: String?
  var slot: Int64?
  /// Of `keys/remove`: also the last passphrase, or what leaves no slot that is known to open. Of
  /// `keys/rotate`: also when slots go.
  var isConfirmed: Bool?
  /// Of `keys/rotate`: new root keys too, sealed for these.
  var roots: [StoreSecret]?
  /// With new root keys: deletes the items for this device only whose device key is gone.
  var deletesDeviceItems: Bool?
  /// Of an export or import: its name. The file itself comes open.
  var file: String?
  var onConflict: ItemImport.OnConflict?
  /// Of an import: only look.
  var isTrial: Bool?
}

/// What comes of it.
struct StoreReport: Codable, Sendable {
  struct Slot: Codable, Sendable {
    enum Opens: String, Codable, Sendable {
      case yes, no
      /// It takes something that is not at hand.
      case notTried = "not_tried"
    }

    var id: Int64
    var kind: String
    var label: String
    /// RFC 3339.
    var created: String
    var opens: Opens
  }

  struct Rotation: Codable, Equatable, Sendable {
    var running = false
    var finished = false
    /// True while the one that is wanted waits for another, which makes no new keys.
    var queued: Bool?
    var resumed = false
    var renewed = 0
    var items = 0
    var locked = 0
    var damaged = 0
    var retiredKeys = 0
    var problem: String?
    /// The exit status that goes with it.
    var exit: Int32?
  }

  struct Progress: Codable, Sendable {
    var done: Int
    var total: Int
  }

  var slots: [Slot]?
  var removed: [Slot]?
  /// Items for this device only that wait for their device key.
  var waiting: Int?
  /// Such items that were deleted.
  var deleted: Int?
  /// What is wrong with the device key in its place.
  var deviceKeyProblem: String?
  /// The path of a key file that was made.
  var keyFileMade: String?
  /// The file of the device key was lost, and the keeper that had it has written it again.
  var deviceKeyWritten: Bool?
  var rotation: Rotation?
  /// Whether what is accessible "when unlocked" can be reached.
  var unlocked: Bool?
  /// Whether it takes a passphrase or a recovery code to reach it.
  var guarded: Bool?
  var exported: ExportOutcome?
  var imported: ImportOutcome?
  var progress: Progress?
}

extension StoreReport {
  static let wordsOfDeviceKey =
    "The file device.key was missing. The keeper had the key, and has written the file again.\n"
}

typealias StoreAnswer = KeeperAnswer<StoreReport>
