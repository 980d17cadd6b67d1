// SPDX-License-Identifier: Apache-2.0

import KeychainCore

extension StoreReport.Rotation {
  mutating func finish(_ report: RotationReport) {
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

  /// As without a keeper.
  var failure: CommandFailure? {
    problem.map { CommandFailure(exit.flatMap(ExitStatus.init) ?? .inputOutput, $0) }
  }

  var text: String {
    var text = resumed ? "An interrupted rotation is finished: " : ""
    text += "\(renewed) items have new keys, \(retiredKeys) old keys are removed.\n"
    if locked > 0 {
      text +=
        "\(locked) items are locked or of another device: their secrets keep the old keys. A keeper goes on"
        + " with them when it is unlocked, or starts with their device.key in place; otherwise rotate"
        + " again then.\n"
    }
    if damaged > 0 {
      text +=
        "\(damaged) items are damaged and were left as they are. `threadkeeper store verify`"
        + " names them.\n"
    }
    return text
  }
}
