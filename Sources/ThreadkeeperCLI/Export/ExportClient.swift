// SPDX-License-Identifier: Apache-2.0

import ClientEnrolment
import KeychainCore
import Settings
import ThreadkeeperDaemon
import VarlinkSocket

/// Has an export or an import done: by the daemon that holds the store, which sends or gets the bytes of the file, or
/// without one in the store itself.
struct ExportClient: Sendable {
  /// Until the first word of the daemon: others may be before this one, each with a store of millions.
  private static let timeout = Duration.seconds(24 * 3_600)

  let settings: Settings
  /// What the line on a terminal says.
  let words: String

  /// The store, where no daemon has it; nil where one does.
  ///
  /// - Parameter needsAll: whether what is locked is asked for, too.
  func openHere(
    _ needsAll: @escaping @Sendable (Keychain) throws -> Bool
  ) async throws -> Keychain? {
    try await StoreClient(settings: settings).openHere(needsAll)
  }

  /// - Parameters:
  ///   - draft: an empty one. All of it is on the disk when this returns.
  ///   - keychain: from `openHere`.
  func export(
    _ request: StoreMethods.Export, to draft: ExportDraft, in keychain: Keychain?
  ) async throws -> ExportOutcome {
    let descriptor = draft.descriptor
    if let keychain {
      return try await workHere(in: keychain) { try $0.export(request, to: descriptor) }
    }
    let line = ProgressLine(words)
    defer { line.end() }
    let file = try DraftWriter(descriptor, path: draft.path)
    let last = try await askDaemon(orSay: "export again") {
      try await $0.follow(StoreMethods.export, request, firstWithin: Self.timeout) { step in
        line.show(step.progress)
        if let data = step.data { try await file.append(data) }
      }
    }
    guard let outcome = last.exported else { throw DaemonClient.unreadable }
    guard try await file.finish() == outcome.bytes else { throw DaemonClient.unreadable }
    return outcome
  }

  /// - Parameters:
  ///   - file: it stays open.
  ///   - keychain: from `openHere`.
  func importItems(
    _ request: StoreMethods.Import, from file: Int32, in keychain: Keychain?
  ) async throws -> (ImportOutcome, [ImportedName]) {
    if let keychain {
      return try await workHere(in: keychain) { service in
        var service = service
        var names: [ImportedName] = []
        service.named = { names.append($0) }
        let outcome = try service.take(request, from: file)
        return (outcome, names)
      }
    }
    let line = ProgressLine(words)
    defer { line.end() }
    let export = try ExportFile(file, path: request.file)
    // Before gigabytes of something else go to the daemon.
    do { try export.checkHeader() } catch { throw CommandFailure(exchanging: error) }
    var names: [ImportedName] = []
    let last = try await askDaemon(
      orSay: "it has taken in all or nothing: import again, what is here already stays as it is"
    ) {
      try await $0.follow(
        StoreMethods.importItems, request, firstWithin: Self.timeout,
        after: { try await upload(export, $0) }
      ) {
        step in
        line.show(step.progress)
        names += step.names ?? []
      }
    }
    guard let outcome = last.imported else { throw DaemonClient.unreadable }
    return (outcome, names)
  }

  // MARK: The daemon

  /// The most time in which the daemon writes a piece to its disk.
  private static let uploadTimeout = Duration.seconds(60)

  private func askDaemon(
    orSay remedy: String, _ ask: (DaemonClient) async throws -> ExchangeStep?
  ) async throws -> ExchangeStep {
    do {
      if let last = try await ask(DaemonClient(settings: settings)) { return last }
    } catch is DaemonClient.Ended {
      throw CommandFailure(
        .temporary, "the running daemon has ended before it answered", remedy: remedy)
    }
    throw CommandFailure(
      .temporary, "the running daemon has ended before it was asked", remedy: "try again")
  }

  /// Changes nothing in the store, so it leaves nothing in doubt.
  private func upload(_ file: ExportFile, _ client: VarlinkClient) async throws {
    do {
      // An empty file, too: what is wrong with it the daemon says.
      var piece = try file.next(StoreMethods.pieceLength)
      repeat {
        _ = try await client.call(
          StoreMethods.upload, StoreMethods.Piece(piece), within: Self.uploadTimeout)
        piece = try file.next(StoreMethods.pieceLength)
      } while !piece.isEmpty
    } catch let error as SocketError where error.reason == .abandoned {
      throw CancellationError()
    } catch let error as KeychainError {
      throw CommandFailure(exchanging: error)
    }
  }

  // MARK: Here

  private func workHere<R: Sendable>(
    in keychain: Keychain, _ work: @escaping @Sendable (ExportService) throws -> R
  ) async throws -> R {
    try await InterruptibleWork.result { [settings, words] isStopped in
      let line = ProgressLine(words)
      defer { line.end() }
      let service = ExportService(
        keychain: keychain, settings: settings, enrolments: ClientEnrolmentStore(keychain)
      ) { done, total in
        guard !isStopped.isUp else { throw KeychainError(.userCanceled, "it was stopped") }
        line.show(UInt64(done), of: UInt64(total))
      }
      do {
        return try work(service)
      } catch {
        if isStopped.isUp { throw CancellationError() }
        throw error
      }
    }
  }
}

extension ProgressLine {
  func show(_ progress: ExchangeStep.Progress?) {
    guard let progress else { return }
    show(UInt64(clamping: progress.done), of: UInt64(clamping: progress.total))
  }
}
