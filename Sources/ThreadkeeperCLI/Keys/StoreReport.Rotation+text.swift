// SPDX-License-Identifier: Apache-2.0

import ThreadkeeperDaemon

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
