// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Datasets for the commands, and the secrets in them.
enum DatasetSamples {
  /// A complete one with two unknown TLVs.
  static let home =
    "0e080000000000010000000300001335060004001fffe00208acc214689bc40bdf0708fd64db1225f47e0b"
    + "0510\(networkKey)030f4f70656e5468726561642d643961300102d9a00410\(pskc)0c0402a0fff8"
    + "aa01ffbb020102"

  static let networkKey = "5b1fd2a7c94e3360f18a7be20c56d94f"
  static let pskc = "9d03c6e8a1574bfa62e07d18b43f95c0"

  /// The same network with another wake-up channel.
  static let homeWithWakeUpChannel = home + "4a03000018"

  /// On standard error, for a dataset on the command line.
  static let warning =
    "warning: other users of this machine can read a dataset on the command line; give @FILE, or - for"
    + " standard input\n"

  static let pending = home + "33080000000000020000" + "34040000b512"
  /// Without Network Key.
  static let partial = home.replacingOccurrences(of: "0510\(networkKey)", with: "")
}
