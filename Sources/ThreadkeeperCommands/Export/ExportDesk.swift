// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import Settings

/// Has an export or an import done: by the keeper that holds the store, which gets the open files, or without one
/// in the store itself.
struct ExportDesk: Sendable {
  /// Seconds, for a store of millions on a slow machine.
  private static let patience = 24 * 3_600
  private static let pause = Duration.milliseconds(250)

  let settings: Settings
  /// What the line on a terminal says.
  let words: String

  func perform(_ request: StoreRequest, _ files: [Int32]) async throws -> StoreReport {
    // A keeper that ends in the middle may have done it.
    try await RunningKeeper.orStore(isRepeatable: false) {
      try await askShowingProgress(request, files)
    } store: {
      try workHere(request, files)
    }
  }

  // MARK: The keeper

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
      let octets = try await RunningKeeper(settings: settings).ask(
        request.octets, passing: files, within: Self.patience)
      return try octets.map { try StoreAnswer.result($0) }
    } catch is RunningKeeper.Ended {
      throw CommandFailure(
        .temporary, "the running keeper has ended before it answered",
        remedy: request.command == .importItems
          ? "it has taken in all or nothing: import again, what is here already stays as it is"
          : "export again")
    }
  }

  private func showProgress() async {
    let line = ProgressLine(words)
    while !Task.isCancelled {
      if let octets = try? await RunningKeeper(settings: settings).ask(
        StoreRequest(command: .progress).octets, within: 5),
        let progress = try? StoreAnswer.result(octets).progress
      {
        line.show(UInt64(progress.done), of: UInt64(progress.total))
      }
      do { try await Task.sleep(for: Self.pause) } catch { break }
    }
    line.end()
  }

  // MARK: Here

  private func workHere(_ request: StoreRequest, _ files: [Int32]) throws -> StoreReport {
    let keychain = try OpenStore.forWriting(settings)
    defer { keychain.close() }
    if try request.command == .importItems || keychain.lockedForExport() > 0 {
      try StoreDesk(settings: settings).unlockIfAsked(keychain)
    }
    let line = ProgressLine(words)
    defer { line.end() }
    let work = ExportWork(keychain: keychain, settings: settings) { done, total in
      guard !Task.isCancelled else { throw KeychainError(.userCanceled, "it was stopped") }
      line.show(UInt64(done), of: UInt64(total))
    }
    do {
      return try work.answer(request, files)
    } catch {
      if Task.isCancelled { throw CancellationError() }
      throw error
    }
  }
}
