// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import LocalAPI
import Settings
import ThreadkeeperDaemon
import ThreadkeeperSupport

/// Has the daemon verify or back up the store. A store without a daemon is verified here.
struct MaintenanceClient: Sendable {
  /// Until the first reply of the daemon: earlier requests may take hours in a store of millions.
  private static let timeout = Duration.seconds(24 * 3_600)

  let settings: Settings

  func verify() async throws -> VerificationOutcome {
    try await DaemonClient.orStore(isRepeatable: true) {
      let line = ProgressLine(Self.verifying)
      defer { line.end() }
      let last = try await DaemonClient(settings: settings).followIfThere(
        VerifyStore(), firstWithin: Self.timeout
      ) { line.show($0.progress) }
      guard let last else { return nil }
      guard let outcome = last.verified else { throw DaemonClient.unreadable }
      return outcome
    } store: {
      try await verifyHere()
    }
  }

  /// - Parameters:
  ///   - file: where the backup is when this returns.
  ///   - isReplacing: whether a file of that name may go.
  func backup(to file: String, replacing isReplacing: Bool) async throws -> BackupOutcome {
    let client = DaemonClient(settings: settings)
    return try await client.askRunning {
      do {
        return try await receive(file, isReplacing, client)
      } catch let error as KeychainError {
        throw CommandFailure(maintaining: error)
      } catch is DaemonClient.LeftOpen {
        // Whatever the daemon wrote, it has no name.
        throw CancellationError()
      }
    }
  }

  private static let verifying = "Verifying the store:"
  private static let writing = "Writing the backup:"

  /// - Returns: nil when no daemon listens.
  private func receive(
    _ file: String, _ isReplacing: Bool, _ client: DaemonClient
  ) async throws -> BackupOutcome? {
    // Where none listens no file is begun.
    guard try await client.isThere(within: .seconds(10)) else { return nil }
    let line = ProgressLine(Self.writing)
    defer { line.end() }
    let draft = try BackupDraft(file, replacing: isReplacing)
    let written = draft.file
    var length = 0
    let last = try await client.followIfThere(
      BackupStore(), firstWithin: Self.timeout
    ) { step in
      line.show(step.progress)
      guard let data = step.data else { return }
      try await SystemThread.result { [length] in try written.write([UInt8](data), at: length) }
      length += data.count
    }
    guard let last else { return nil }
    guard let outcome = last.made, length == outcome.fileBytes else {
      throw DaemonClient.unreadable
    }
    try await SystemThread.result { try written.sync() }
    try draft.place()
    BackupNote.write(settings)
    return outcome
  }

  /// Beside others that use the store; it is not locked for that.
  private func verifyHere() async throws -> VerificationOutcome {
    try await InterruptibleWork.result { [settings] isStopped in
      let keychain = try OpenStore.forReading(settings) {
        try StoreSecret.ask($0, until: isStopped)
      }
      defer { keychain.close() }
      let line = ProgressLine(Self.verifying)
      defer { line.end() }
      do {
        return try VerificationOutcome(verifying: keychain) { done, total in
          guard !isStopped.isUp else { throw KeychainError(.userCanceled, "it was stopped") }
          line.show(UInt64(clamping: done), of: UInt64(clamping: total))
        }
      } catch let error as KeychainError {
        if isStopped.isUp { throw CancellationError() }
        throw CommandFailure(maintaining: error)
      }
    }
  }
}

extension ProgressLine {
  fileprivate func show(_ progress: WorkProgress?) {
    guard let progress else { return }
    show(UInt64(clamping: progress.done), of: UInt64(clamping: progress.total))
  }
}
