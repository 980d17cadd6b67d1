// SPDX-License-Identifier: Apache-2.0

import Foundation

enum ProcessState {
  static func isAlive(_ identifier: Int32) -> Bool {
    // A zombie that nobody has waited for is dead as well.
    guard let status = try? String(contentsOfFile: "/proc/\(identifier)/stat", encoding: .utf8)
    else { return false }
    return !status.contains(") Z ")
  }
}
