// SPDX-License-Identifier: Apache-2.0

import SodiumCrypto

/// Passwords as MQTT takes them: 1 to 65,535 octets (MQTT 5.0, section 3.1.3.6), here of UTF-8
/// without a zero octet.
package enum Password {
  package static let limit = 65_535

  package static func checked(_ octets: ArraySlice<UInt8>) throws(CommandFailure) -> SecretBytes {
    guard !octets.isEmpty else { throw CommandFailure(.badInput, "the password is empty") }
    guard octets.count <= limit else { throw tooLong }
    guard !octets.contains(0), String(validating: octets, as: UTF8.self) != nil else {
      throw CommandFailure(.badInput, "the password is not UTF-8, or has a zero octet")
    }
    return SecretBytes(copying: octets)
  }

  package static let tooLong = CommandFailure(
    .badInput, "the password has more than \(limit) octets")
}
