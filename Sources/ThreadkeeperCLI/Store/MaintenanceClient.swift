// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import Settings
import SystemThreads
import ThreadkeeperDaemon
import VarlinkSocket

/// Verifies or backs up the store: by the daemon that runs, which sends the bytes of the file, or without one in the
/// store itself.
struct MaintenanceClient: Sendable {
  /// Until the first reply of the daemon: earlier requests may take hours in a store of millions.
  private static let timeout = Duration.seconds(24 * 3_600)

  let settings: Settings

  func verify() async throws -> VerificationOutcome {
    try await DaemonClient.orStore(isRepeatable: true) {
      let line = ProgressLine(Self.verifying)
      defer { line.end() }
      let last = try await DaemonClient(settings: settings).follow(
        StoreMethods.verify, VarlinkNothing(), firstWithin: Self.timeout
      ) { line.show($0.progress) }
      guard let last else { return nil }
      guard let outcome = last.verified else { throw DaemonClient.unreadable }
      return outcome
    } store: {
      try await workInStore(Self.verifying) { keychain, progress in
        try VerificationOutcome(verifying: keychain, progress: progress)
      }
    }
  }

  /// - Parameters:
  ///   - file: where the backup is when this returns.
  ///   - isReplacing: whether a file of that name may go.
  func backup(to file: String, replacing isReplacing: Bool) async throws -> BackupOutcome {
    try await DaemonClient.orStore(isRepeatable: true) {
      do {
        return try await receive(file, isReplacing)
      } catch let error as KeychainError {
        throw CommandFailure(maintaining: error)
      } catch is DaemonClient.LeftOpen {
        // Whatever the daemon wrote, it has no name.
        throw CancellationError()
      }
    } store: {
      try await workInStore(Self.writing) { keychain, progress in
        let made = try keychain.backup(to: file, replacing: isReplacing) {
          try progress(Int(clamping: $0), Int(clamping: $1))
        }
        BackupNote.write(settings)
        return BackupOutcome(made)
      }
    }
  }

  private static let verifying = "Verifying the store:"
  private static let writing = "Writing the backup:"

  /// - Returns: nil when no daemon listens.
  private func receive(_ file: String, _ isReplacing: Bool) async throws -> BackupOutcome? {
    let client = DaemonClient(settings: settings)
    // Where none listens the store writes the file itself.
    guard try await client.isThere(within: .seconds(10)) else { return nil }
    let line = ProgressLine(Self.writing)
    defer { line.end() }
    let draft = try BackupDraft(file, replacing: isReplacing)
    let written = draft.file
    var length = 0
    let last = try await client.follow(
      StoreMethods.backup, VarlinkNothing(), firstWithin: Self.timeout
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
  private func workInStore<R: Sendable>(
    _ words: String,
    _ work: @escaping @Sendable (Keychain, (Int, Int) throws -> Void) throws -> R
  ) async throws -> R {
    try await InterruptibleWork.result { [settings] isStopped in
      let keychain = try OpenStore.forReading(settings) {
        try StoreSecret.ask($0, until: isStopped)
      }
      defer { keychain.close() }
      let line = ProgressLine(words)
      defer { line.end() }
      do {
        return try work(keychain) { done, total in
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
