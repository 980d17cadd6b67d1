// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security

/// What a program was told.
final class Reports: Sendable {
  private let lock = NSLock()
  // Unchecked: touched under the lock only.
  nonisolated(unsafe) private var list: [(OSStatus, String)] = []

  func note(_ status: OSStatus, _ reason: String) {
    lock.withLock { list.append((status, reason)) }
  }

  var all: [(OSStatus, String)] { lock.withLock { list } }
}
