// SPDX-License-Identifier: Apache-2.0

import ClientEnrolment
import KeychainCore
import Settings
import ThreadkeeperDaemon

/// Has an export or an import done: by the daemon that holds the store, which gets the open files, or without one
/// in the store itself.
struct ExportClient: Sendable {
  /// Seconds, for a store of millions on a slow machine.
  private static let patience = 24 * 3_600
  private static let pause = Duration.milliseconds(250)

  let settings: Settings
  /// What the line on a terminal says.
  let words: String

  /// The store, where no daemon has it; nil where one does.
  func openHere(_ command: StoreRequest.Command) async throws -> Keychain? {
    try await StoreClient(settings: settings).openHere {
      try command == .importItems || $0.lockedForExport() > 0
    }
  }

  /// - Parameter keychain: from `openHere`.
  func perform(
    _ request: StoreRequest, _ files: [Int32], in keychain: Keychain?
  ) async throws -> StoreReport {
    if let keychain {
      return try await SystemThread.run { try workHere(request, files, in: keychain, $0) }
    }
    guard let report = try await askShowingProgress(request, files) else {
      throw CommandFailure(
        .temporary, "the running daemon has ended before it was asked", remedy: "try again")
    }
    return report
  }

  // MARK: The daemon

  private func askShowingProgress(
    _ request: StoreRequest, _ files: [Int32]
  ) async throws -> StoreReport? {
    guard StandardStream.error.isTerminal else { return try await ask(request, files) }
    let line = Task { await showProgress() }
    do {
      let report = try await ask(request, files)
      line.cancel()
      await line.value
      return report
    } catch {
      line.cancel()
      await line.value
      throw error
    }
  }

  private func ask(_ request: StoreRequest, _ files: [Int32]) async throws -> StoreReport? {
    do {
      return try await DaemonClient(settings: settings).ask(
        request, passing: files, within: Self.patience)
    } catch is DaemonClient.Ended {
      throw CommandFailure(
        .temporary, "the running daemon has ended before it answered",
        remedy: request.command == .importItems
          ? "it has taken in all or nothing: import again, what is here already stays as it is"
          : "export again")
    }
  }

  private func showProgress() async {
    let line = ProgressLine(words)
    while !Task.isCancelled {
      if let progress = try? await progress(within: 5)?.progress {
        line.show(UInt64(progress.done), of: UInt64(progress.total))
      }
      do { try await Task.sleep(for: Self.pause) } catch { break }
    }
    line.end()
  }

  /// Nil when no daemon listens.
  private func progress(within seconds: Int) async throws -> StoreReport? {
    try await DaemonClient(settings: settings).ask(
      StoreRequest(command: .progress), within: seconds)
  }

  // MARK: Here

  private func workHere(
    _ request: StoreRequest, _ files: [Int32], in keychain: Keychain, _ isStopped: StopFlag
  ) throws -> StoreReport {
    let line = ProgressLine(words)
    defer { line.end() }
    let service = ExportService(
      keychain: keychain, settings: settings, enrolments: ClientEnrolmentStore(keychain)
    ) { done, total in
      guard !isStopped.isUp else { throw KeychainError(.userCanceled, "it was stopped") }
      line.show(UInt64(done), of: UInt64(total))
    }
    do {
      return try service.answer(request, files)
    } catch {
      if isStopped.isUp { throw CancellationError() }
      throw error
    }
  }
}
