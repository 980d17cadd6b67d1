// SPDX-License-Identifier: Apache-2.0

import ThreadkeeperDaemon

extension StoreReport {
  static let wordsOfDeviceKey =
    "The file device.key was missing. The daemon had the key, and has written the file again.\n"

  /// What came with new root keys; lines, or nothing.
  var textOfRoots: String {
    var text = ""
    for slot in removed ?? [] {
      text +=
        "Key slot \(slot.id) (\(slot.kind)\(slot.label.isEmpty ? "" : " " + slot.label.printable))"
        + " is removed.\n"
    }
    if deviceKeyWritten == true { text += Self.wordsOfDeviceKey }
    let waiting = waiting ?? 0
    if waiting > 0, let problem = deviceKeyProblem {
      text +=
        "\(waiting) items for this device only wait for their device.key:"
        + " \(problem.printable). Then rotate again.\n"
    } else if waiting > 0 {
      text +=
        "\(waiting) items for this device only wait for their device.key, which is not here: put"
        + " it back and rotate again. If it is gone for good, nobody can read them:"
        + " --delete-device-items --yes deletes them.\n"
    }
    if let deleted, deleted > 0 {
      text += "\(deleted) items of a device that is gone are deleted.\n"
    }
    return text
  }
}

extension StoreReport.Rotation {
  var text: String {
    var text = resumed ? "An interrupted rotation is finished: " : ""
    text += "\(renewed) items have new keys, \(retiredKeys) old keys are removed.\n"
    if locked > 0 {
      text +=
        "\(locked) items are locked or of another device: their secrets keep the old keys. A daemon goes on"
        + " with them when it starts with `store.passphrase`, or with their device.key in place;"
        + " otherwise rotate again then.\n"
    }
    if damaged > 0 {
      text +=
        "\(damaged) items are damaged and were left as they are. `threadkeeper store verify`"
        + " names them.\n"
    }
    return text
  }
}
