// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit

/// A directory that goes with the test.
final class OwnDirectory: Sendable {
  let path: String
  init() throws { path = try TestBroker.temporaryDirectory() + "/broker" }
  deinit {
    try? FileManager.default.removeItem(atPath: (path as NSString).deletingLastPathComponent)
  }
}
