// SPDX-License-Identifier: Apache-2.0

import SodiumCrypto

/// The names that public keys have in envelopes: lower-case hex of their BLAKE2b-256.
enum KeyHash {
  static func text(of key: [UInt8]) throws(SodiumError) -> String {
    hex(try BLAKE2b.hash256(key))
  }

  static func hex(_ bytes: some Sequence<UInt8>) -> String {
    let digits = Array("0123456789abcdef".utf8)
    var text: [UInt8] = []
    for byte in bytes {
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 15)])
    }
    return String(decoding: text, as: UTF8.self)
  }
}
