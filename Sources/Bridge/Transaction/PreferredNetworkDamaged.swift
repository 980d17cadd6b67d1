// SPDX-License-Identifier: Apache-2.0

/// Every decision needs the preferred network, so without it the intake stands still rather than guess.
struct PreferredNetworkDamaged: Error, CustomStringConvertible {
  let home: String

  var description: String {
    "the stored preferred network of the home \(home) is damaged; restore the store from a backup"
  }
}
