// SPDX-License-Identifier: Apache-2.0

import Foundation

extension KeychainError {
  /// As Core Foundation's errors are: a number of `OSStatus` and the reason.
  var foundationError: NSError {
    NSError(
      domain: NSOSStatusErrorDomain, code: Int(status.rawValue),
      userInfo: [NSLocalizedDescriptionKey: message])
  }
}
