// SPDX-License-Identifier: Apache-2.0

import SodiumCrypto

/// Why a text is no enrolment line.
package enum EnrolmentLineError: String, Error, Sendable {
  case notALine = "not_a_line"
  case unsupportedVersion = "unsupported_version"
  /// The check at its end does not fit: it was mistyped, or cut.
  case wrongCheck = "wrong_check"
  case unusableKey = "unusable_key"

  package var message: String {
    switch self {
    case .notALine: "this is no enrolment line: it begins with tk1: and has three parts"
    case .unsupportedVersion: "this enrolment line is of a version that is not known here"
    case .wrongCheck: "the enrolment line is mistyped, or a part of it is missing"
    case .unusableKey: "the enrolment line holds keys that nobody makes"
    }
  }
}

extension PublicIdentity {
  /// One line to hand to the other side:
  ///
  /// ```
  /// tk1:<base64url of X25519 key | Ed25519 key, 86 characters>:<first 8 digits of the fingerprint>
  /// ```
  /// Public. It must arrive unaltered, which the fingerprint proves and the check at its end does not.
  package var line: String {
    "tk1:\(Base64.encode(sealingKey + signingKey, .urlSafe)):\(check)"
  }

  private var check: String { String(fingerprint.filter { $0 != "-" }.prefix(8)) }

  /// Reads an enrolment line; white space around it does not matter.
  package init(line: String) throws(EnrolmentLineError) {
    let words = line.split { $0.isWhitespace }
    guard words.count == 1, let word = words.first else { throw .notALine }
    let parts = word.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 3, parts[0].hasPrefix("tk") else { throw .notALine }
    guard parts[0] == "tk1" else { throw .unsupportedVersion }
    guard let bytes = Base64.decode(String(parts[1]), .urlSafe), bytes.count == 64 else {
      throw .wrongCheck
    }
    let identity: PublicIdentity
    do {
      identity = try PublicIdentity(
        sealingKey: Array(bytes[..<32]), signingKey: Array(bytes[32...]))
    } catch {
      throw .unusableKey
    }
    guard identity.check == parts[2] else { throw .wrongCheck }
    self = identity
  }
}
