// SPDX-License-Identifier: Apache-2.0

import KeychainCore

/// What is to happen to the items that a request means.
package enum KeychainCall: Sendable {
  case add
  case search
  case update(to: ItemRequest)
  case delete
}
