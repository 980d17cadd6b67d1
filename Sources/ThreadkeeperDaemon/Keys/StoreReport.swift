// SPDX-License-Identifier: Apache-2.0

/// What comes of a method; each has its own part of it. Also what the commands print with `--json`.
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

  package var slots: [Slot]?
  package var removed: [Slot]?
  /// Items that have new keys.
  package var items: Int?
  /// Items for this device only that were deleted, because their device key is gone.
  package var deleted: Int?
  /// The path of a key file that was made.
  package var keyFileMade: String?
  /// The file of the device key was lost, and the daemon that had it has written it again.
  package var deviceKeyWritten: Bool?
}
