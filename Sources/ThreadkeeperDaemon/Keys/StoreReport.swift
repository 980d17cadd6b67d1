// SPDX-License-Identifier: Apache-2.0

import KeychainCore

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
}

extension StoreReport.Rotation {
  package mutating func finish(_ report: RotationReport) {
    running = false
    finished = report.isFinished
    resumed = report.wasPending
    // An item may have had its turn in more than one pass.
    renewed = items > 0 ? min(report.renewed, items) : report.renewed
    (locked, damaged) = (report.locked, report.damaged)
    retiredKeys = report.retiredKeys
  }

  mutating func fail(_ error: KeychainError) {
    running = false
    problem = error.message
    exit = CommandFailure(error).status.rawValue
  }

  /// As without a daemon.
  package var failure: CommandFailure? {
    problem.map { CommandFailure(exit.flatMap(ExitStatus.init) ?? .inputOutput, $0) }
  }
}
