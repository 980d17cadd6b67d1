// SPDX-License-Identifier: Apache-2.0

import KeychainCore

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
