// SPDX-License-Identifier: Apache-2.0

import KeychainCore

/// Whether a person may be asked for items that need one (`u_AuthUI`).
package enum AuthenticationUI: String, Sendable {
  case allow = "u_AuthUIA"
  /// Answer -25308 when somebody would have to be asked.
  case fail = "u_AuthUIF"
  /// Leave out what somebody would have to be asked for. For searches only.
  case skip = "u_AuthUIS"
}
