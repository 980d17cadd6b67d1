// SPDX-License-Identifier: Apache-2.0

/// What a component remembers during one transaction, so that a savepoint can undo it too.
package protocol TransactionState: AnyObject {
  /// Notes what is, and returns what brings it back.
  func savepoint() -> () -> Void
}
