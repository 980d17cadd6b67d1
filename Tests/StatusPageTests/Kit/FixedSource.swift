// SPDX-License-Identifier: Apache-2.0

import StatusPage
import Synchronization

/// A daemon that says what a test wants.
final class FixedSource: PageSource {
  private let kept = Mutex(Readiness([.init("broker", ok: true), .init("store", ok: true)]))

  var readiness: Readiness {
    get { kept.withLock { $0 } }
    set { kept.withLock { $0 = newValue } }
  }

  let asked = Mutex(0)
  /// What the page is to show.
  let shown = Mutex<[UInt8]?>(Array("{}".utf8))
  let looks = Mutex(0)

  let changes = Mutex<[PageChange]>([])
  let refusal = Mutex<PageRefusal?>(nil)

  func make(_ change: PageChange) async throws -> String {
    if let refusal = refusal.withLock({ $0 }) { throw refusal }
    changes.withLock { $0.append(change) }
    return "Done."
  }

  func state() async -> [UInt8]? {
    looks.withLock { $0 += 1 }
    return shown.withLock { $0 }
  }

  func metrics() async -> [Metric] {
    asked.withLock { $0 += 1 }
    return [Metric(.gauge, "threadkeeper_test", "For a test.", 1)]
  }
}
