// SPDX-License-Identifier: Apache-2.0

/// What happened at opening and should be said once.
package enum StoreNotice: Equatable, Sendable, CustomStringConvertible {
  case anchorMissing(path: String)
  case anchorUnreadable(path: String)
  case anchorNotWritten(path: String, reason: String)

  package var description: String {
    switch self {
    case .anchorMissing(let path):
      "there was no anchor at \(path): a rollback before now cannot be noticed"
    case .anchorUnreadable(let path):
      "the anchor at \(path) could not be read: a rollback before now cannot be noticed"
    case .anchorNotWritten(let path, let reason):
      "the anchor at \(path) could not be written: \(reason)"
    }
  }
}
