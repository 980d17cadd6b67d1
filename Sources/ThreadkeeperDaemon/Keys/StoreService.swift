// SPDX-License-Identifier: Apache-2.0

import Dispatch
import KeychainCore
import Logging
import ServiceLifecycle
import Settings
import Synchronization

/// Does with the store what commands ask for, and renews its keys in the background.
final class StoreService: Service {
  let settings: Settings
  let keychain: Keychain
  let logger: Logger
  let rotation = Mutex(Rotating())
  let isEnding = Mutex(false)
  /// A passphrase takes its time.
  let turns = HandlerQueue("store")
  let rotating = DispatchQueue(label: "threadkeeper.rotation", qos: .utility)

  init(_ settings: Settings, keychain: Keychain, logger: Logger) {
    self.settings = settings
    self.keychain = keychain
    self.logger = logger
  }

  func run() async throws {
    goOnRotating()
    try? await gracefulShutdown()
    isEnding.withLock { $0 = true }
    // A step is short; what is left goes on with the next start.
    await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
      rotating.async { done.resume() }
    }
  }
}

/// The key slots, for who asks over the local API.
extension StoreService {
  /// - Parameter actor: for whom, in the audit.
  private func actions(_ actor: String? = nil) -> StoreActions {
    StoreActions(keychain: keychain, settings: settings, actor: actor)
  }

  func listKeys() async throws -> StoreReport {
    try await turns.run { [self] in try actions().list() }
  }

  func addKey(_ request: KeysMethods.Addition, for actor: String) async throws -> StoreReport {
    try await turns.run { [self] in
      let report = try actions(actor).add(request)
      logger.notice("a key slot is added", metadata: ["slot": "\(Self.names(report.slots))"])
      return report
    }
  }

  func removeKey(_ request: KeysMethods.Removal, for actor: String) async throws -> StoreReport {
    try await turns.run { [self] in
      let report = try actions(actor).remove(request)
      logger.notice("a key slot is removed", metadata: ["slot": "\(Self.names(report.removed))"])
      return report
    }
  }

  /// Begins a rotation, or finds one under way.
  ///
  /// - Returns: what came with new root keys, and the rotation.
  func beginRotation(
    _ request: KeysMethods.Rotation, for actor: String
  ) async throws -> StoreReport {
    try await turns.run { [self] in
      var report = try actions(actor).renewRoots(request)
      if request.roots != nil { logger.notice("the root keys of the store are new") }
      beginRotation(for: actor, request.roots == nil ? .newKeys : .newRoots)
      report.rotation = rotation.withLock { $0.report }
      return report
    }
  }

  private static func names(_ slots: [StoreReport.Slot]?) -> String {
    (slots ?? []).map { "\($0.id) (\($0.kind))" }.joined(separator: ", ")
  }
}

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
