// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import Logging

extension StoreService {
  /// What was interrupted, and items that were out of reach when it came to them.
  func goOnRotating() {
    let isPending = (try? keychain.rotationIsPending()) == true
    guard isPending || (try? keychain.rotationIsOwed()) == true else { return }
    if isPending {
      logger.notice("older keys are still in the store: the rotation of the keys goes on")
    }
    beginRotation(.leftovers)
  }

  func beginRotation(for actor: String? = nil, _ cause: RotationCause) {
    guard rotation.withLock({ $0.begins(cause, for: actor) }) else { return }
    rotating.async { self.rotate(for: actor, beginning: cause == .newKeys) }
  }

  func rotate(for actor: String?, beginning isNew: Bool) {
    var (actor, isNew) = (actor, isNew)
    // Passes that were followed by another: together they are one work.
    var before: RotationReport?
    do {
      while true {
        let report = try keychain.rotateKeys(for: actor, beginning: isNew) { progress in
          rotation.withLock {
            $0.report.renewed = min((before?.renewed ?? 0) + progress.renewed, progress.items)
            $0.report.items = progress.items
          }
          return !isEnding.withLock { $0 }
        }
        let next = rotation.withLock { $0.end(report, after: before) }
        guard report.isFinished else { return }
        tell(report)
        switch next {
        case .nothing: return
        case .leftovers: (isNew, before) = (false, report.after(before))
        case .newKeys(let another): (actor, isNew, before) = (another, true, nil)
        }
      }
    } catch {
      rotation.withLock { $0.report.fail(error) }
      logger.error("the keys were not renewed", metadata: ["reason": "\(error.message)"])
    }
  }

  private func tell(_ report: RotationReport) {
    if report.renewed + report.retiredKeys > 0 {
      logger.notice(
        "the keys of the store are renewed",
        metadata: ["items": "\(report.renewed)", "locked": "\(report.locked)"])
    }
    if report.damaged > 0 {
      logger.warning(
        "damaged items keep their old keys; `threadkeeper store verify` names them",
        metadata: ["items": "\(report.damaged)"])
    }
  }
}
