// SPDX-License-Identifier: Apache-2.0

import Dispatch
import KeychainCore
import Logging
import ServiceLifecycle
import Settings
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Does with the store what commands ask for, renews its keys in the background, and locks it when it
/// is idle.
final class StoreService: Service {
  private let settings: Settings
  private let keychain: Keychain
  private let logger: Logger
  private let rotation = Mutex(StoreReport.Rotation())
  private let isEnding = Mutex(false)
  /// One after the other: each may wait for the disk, and a passphrase takes its time.
  private let turns = DispatchQueue(label: "threadkeeper.store")
  private let rotating = DispatchQueue(label: "threadkeeper.rotation", qos: .utility)

  init(_ settings: Settings, keychain: Keychain, logger: Logger) {
    self.settings = settings
    self.keychain = keychain
    self.logger = logger
  }

  func run() async throws {
    if (try? keychain.rotationIsPending()) == true {
      logger.notice("an interrupted rotation of the keys goes on")
      beginRotation()
    }
    while !Task.isShuttingDownGracefully, !Task.isCancelled {
      if keychain.lockIfIdle(for: settings.store.lockAfterSeconds) {
        logger.notice("the store is locked", metadata: ["reason": "nothing in it was used"])
      }
      do {
        try await cancelWhenGracefulShutdown { try await Task.sleep(for: .seconds(1)) }
      } catch { break }
    }
    isEnding.withLock { $0 = true }
    // A step is short; what is left goes on with the next start.
    await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
      rotating.async { done.resume() }
    }
  }

  /// - Returns: nil when it is no request of this kind.
  func answer(_ octets: [UInt8]) async -> [UInt8]? {
    guard let request = try? JSONDecoder().decode(StoreRequest.self, from: Data(octets)) else {
      return nil
    }
    return await withCheckedContinuation { (done: CheckedContinuation<[UInt8], Never>) in
      turns.async {
        let answer = self.answerNow(request)
        done.resume(returning: (try? answer.octets) ?? [])
      }
    }
  }

  private func answerNow(_ request: StoreRequest) -> StoreAnswer {
    do {
      try DaemonRequest.check(version: request.v)
      switch request.command {
      case .rotation: return StoreAnswer(StoreReport(rotation: rotation.withLock { $0 }))
      case .rotateKeys:
        let removed = try StoreWork(keychain: keychain, settings: settings).renewRoots(request)
        if request.roots != nil { logger.notice("the root keys of the store are new") }
        beginRotation()
        return StoreAnswer(
          StoreReport(removed: removed, rotation: rotation.withLock { $0 }))
      default:
        let report = try StoreWork(keychain: keychain, settings: settings).answer(request)
        tell(request, report)
        return StoreAnswer(report)
      }
    } catch let failure as CommandFailure {
      return StoreAnswer(failure)
    } catch let error as KeychainError {
      return StoreAnswer(CommandFailure(error))
    } catch {
      return StoreAnswer(CommandFailure(.inputOutput, "the store refuses it: \(error)"))
    }
  }

  private func tell(_ request: StoreRequest, _ report: StoreReport) {
    let slots = ((report.slots ?? []) + (report.removed ?? []))
      .map { "\($0.id) (\($0.kind))" }.joined(separator: ", ")
    switch request.command {
    case .addKey: logger.notice("a key slot is added", metadata: ["slot": "\(slots)"])
    case .removeKey: logger.notice("a key slot is removed", metadata: ["slot": "\(slots)"])
    case .lock: logger.notice("the store is locked", metadata: ["reason": "somebody asked for it"])
    case .unlock: logger.notice("the store is unlocked")
    case .listKeys, .rotateKeys, .rotation: break
    }
  }

  // MARK: Rotation

  /// Does nothing while one is under way.
  private func beginRotation() {
    let isFirst = rotation.withLock { rotation in
      guard !rotation.running else { return false }
      rotation = .init(running: true)
      return true
    }
    guard isFirst else { return }
    rotating.async { self.rotate() }
  }

  private func rotate() {
    do {
      let report = try keychain.rotateKeys { progress in
        rotation.withLock { ($0.renewed, $0.items) = (progress.renewed, progress.items) }
        return !isEnding.withLock { $0 }
      }
      rotation.withLock { $0.finish(report) }
      guard report.isFinished else { return }
      logger.notice(
        "the keys of the store are renewed",
        metadata: ["items": "\(report.renewed)", "locked": "\(report.locked)"])
    } catch {
      rotation.withLock {
        $0.running = false
        $0.problem = error.message
      }
      logger.error("the keys were not renewed", metadata: ["reason": "\(error.message)"])
    }
  }
}
