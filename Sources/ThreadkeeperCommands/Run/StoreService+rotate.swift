// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import Logging

extension StoreService {
  /// What was interrupted, and items that were locked when it came to them.
  func goOnRotating() {
    let isPending = (try? keychain.rotationIsPending()) == true
    guard isPending || (try? keychain.rotationIsOwed()) == true else { return }
    if isPending { logger.notice("an interrupted rotation of the keys goes on") }
    beginRotation(anew: false)
  }

  /// One under way goes on with whatever newer keys it finds, so no second one is begun beside it.
  ///
  /// - Parameter anew: false only finishes what there is to finish.
  func beginRotation(for actor: String? = nil, anew isNew: Bool) {
    let isFirst = rotation.withLock { work in
      guard !work.report.running else {
        // It may have looked for newer keys for the last time.
        if !isNew { work.isWantedAgain = true }
        return false
      }
      work = Rotating(report: .init(running: true))
      return true
    }
    guard isFirst else { return }
    rotating.async { self.rotate(for: actor, anew: isNew) }
  }

  func rotate(for actor: String?, anew isNew: Bool) {
    var isNew = isNew
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
        let isOver = rotation.withLock { work in
          guard !(report.isFinished && work.isWantedAgain) else {
            work.isWantedAgain = false
            return false
          }
          work.report.finish(report.after(before))
          return true
        }
        guard report.isFinished else { return }
        logger.notice(
          "the keys of the store are renewed",
          metadata: ["items": "\(report.renewed)", "locked": "\(report.locked)"])
        if isOver { return }
        isNew = false
        before = report.after(before)
      }
    } catch {
      rotation.withLock { $0.report.fail(error) }
      logger.error("the keys were not renewed", metadata: ["reason": "\(error.message)"])
    }
  }
}
