// SPDX-License-Identifier: Apache-2.0

import LocalAPI
import SodiumCrypto

/// User names, by the rule of `mqtt.username`.
package enum Username {
  /// - Throws: `CommandFailure` with status 64, without the name: people mistake one field for another.
  package static func checked(_ name: String) throws(CommandFailure) -> String {
    let text = name.unicodeScalars
    guard (1...256).contains(text.count), !text.contains(where: isUnfit) else {
      throw CommandFailure(
        .usage,
        "a user name has 1 to 256 characters, no control character, none of `/`, `+`, `#`")
    }
    return name
  }

  private static func isUnfit(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.generalCategory == .control || ["/", "+", "#"].contains(scalar)
  }
}

/// Passwords as MQTT takes them: 1 to 65,535 bytes (MQTT 5.0, section 3.1.3.6), here of UTF-8
/// without a zero byte.
package enum Password {
  package static let limit = 65_535

  package static func checked(_ bytes: ArraySlice<UInt8>) throws(CommandFailure) -> SecretBytes {
    guard !bytes.isEmpty else {
      throw CommandFailure(.badInput, "the password is empty", code: VarlinkError.invalidCode)
    }
    guard bytes.count <= limit else { throw tooLong }
    guard !bytes.contains(0), String(validating: bytes, as: UTF8.self) != nil else {
      throw CommandFailure(
        .badInput, "the password is not UTF-8, or has a zero byte", code: VarlinkError.invalidCode)
    }
    return SecretBytes(copying: bytes)
  }

  package static let tooLong = CommandFailure(
    .badInput, "the password has more than \(limit) bytes", code: VarlinkError.invalidCode)
}
