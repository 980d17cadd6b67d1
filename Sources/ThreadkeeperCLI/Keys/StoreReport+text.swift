// SPDX-License-Identifier: Apache-2.0

import ThreadkeeperDaemon

extension StoreReport {
  static let wordsOfDeviceKey =
    "The file device.key was missing. The daemon had the key, and has written the file again.\n"

  /// What came of a rotation; lines.
  var textOfRotation: String {
    var text = "The root keys of the store are new, and \(items ?? 0) items have new keys.\n"
    for slot in removed ?? [] {
      text +=
        "Key slot \(slot.id) (\(slot.kind)\(slot.label.isEmpty ? "" : " " + slot.label.printable))"
        + " is removed.\n"
    }
    if deviceKeyWritten == true { text += Self.wordsOfDeviceKey }
    if let deleted, deleted > 0 {
      text += "\(deleted) items of a device that is gone are deleted.\n"
    }
    return text
  }
}
