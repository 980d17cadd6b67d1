// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import ThreadkeeperDaemon

/// A rotation in the command itself.
struct RotationHere: Sendable {
  let keychain: Keychain
  let client: StoreClient
  let watch: RotationWatch

  /// - Throws: `CancellationError` when the task was cancelled, and the rotation left at a step.
  func run(_ request: KeysMethods.Rotation) async throws -> StoreReport {
    try await InterruptibleWork.result { try work(request, $0) }
  }

  private func work(_ request: KeysMethods.Rotation, _ isStopped: StopFlag) throws -> StoreReport {
    var rotation = StoreReport.Rotation(running: true)
    guard !isStopped.isUp else { throw CancellationError() }
    let begun = try StoreActions(keychain: keychain, settings: client.settings).renewRoots(request)
    if request.roots != nil { watch.note(newRoots: begun) }
    watch.show(rotation, by: .command)
    unlock(request)
    do {
      let report = try keychain.rotateKeys {
        (rotation.renewed, rotation.items) = ($0.renewed, $0.items)
        watch.show(rotation, by: .command)
        return !isStopped.isUp
      }
      guard report.isFinished else { throw CancellationError() }
      rotation.finish(report)
      watch.show(rotation, by: .command)
      return begun
    } catch let error as KeychainError {
      throw CommandFailure(error)
    }
  }

  /// What opens a slot may open the locked items too, for as long as this command runs: they get their new
  /// keys at once.
  private func unlock(_ request: KeysMethods.Rotation) {
    for secret in request.roots ?? [] where !keychain.isUnlocked {
      for way in (try? secret.ways()) ?? [] where !keychain.isUnlocked {
        try? keychain.unlock(with: way)
      }
    }
  }
}
