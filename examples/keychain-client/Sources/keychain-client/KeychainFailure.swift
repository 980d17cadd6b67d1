// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security

/// What the keychain answers when it is not success.
struct KeychainFailure: Error, CustomStringConvertible {
  let status: OSStatus

  var description: String {
    let message = SecCopyErrorMessageString(status, nil) as String?
    return "\(message ?? "no success") (\(status))"
  }

  static func check(_ status: OSStatus) throws {
    guard status == errSecSuccess else { throw KeychainFailure(status: status) }
  }
}
