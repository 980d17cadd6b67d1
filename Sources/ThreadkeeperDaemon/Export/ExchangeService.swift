// SPDX-License-Identifier: Apache-2.0

import ClientEnrolment
import KeychainCore
import Logging
import Settings
import SystemThreads
import VarlinkSocket

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Exports and imports in the running daemon. The bytes of a file come and go over the connection, as the user of a
/// command may reach other places than the daemon does.
///
/// | | in this order | what is there when the caller goes |
/// |---|---|---|
/// | export | all of it into a file without a name; then the file in pieces | nothing: the file goes with the call |
/// | import | pieces into a file without a name; then all of it into the store, in one transaction | nothing, or all of it |
///
/// So a caller that reads or sends slowly holds up no transaction and nobody else's export.
struct ExchangeService: Sendable {
  typealias Send = @Sendable (ExchangeStep) async throws -> Void

  private let settings: Settings
  private let enrolments: ClientEnrolmentStore
  private let logger: Logger
  /// One after the other: each can take minutes.
  let queue = HandlerQueue("exchange")

  /// - Parameter enrolments: those of the bridge, which remembers whom it knows.
  init(_ settings: Settings, enrolments: ClientEnrolmentStore, logger: Logger) {
    self.settings = settings
    self.enrolments = enrolments
    self.logger = logger
  }

  /// - Returns: the last reply.
  func export(
    _ request: StoreMethods.Export, for caller: VarlinkCaller, send: @escaping Send
  ) async throws -> ExchangeStep {
    let file = try await SystemThread.result { [settings] in
      try UnnamedFile(in: settings.store.path)
    }
    let outcome = try await perform(for: caller, send) { [logger] in
      let outcome = try $0.export(request, to: file.descriptor)
      logger.notice(
        "the items of the store are exported",
        metadata: ["items": "\(outcome.items)", "user": "\(caller.peer.user)"])
      return outcome
    }
    while let piece = try await SystemThread.result(of: { try file.read(StoreMethods.pieceLength) })
    {
      try Task.checkCancellation()
      try await send(ExchangeStep(data: piece))
    }
    return ExchangeStep(exported: outcome)
  }

  /// Keeps the next bytes for the import that follows on the connection.
  ///
  /// - Returns: how many there are.
  func upload(_ piece: Data, from caller: VarlinkCaller) async throws -> Int {
    try await SystemThread.result { [settings] in
      let upload: ImportUpload
      if let begun = caller.session.value(ImportUpload.self) {
        upload = begun
      } else {
        upload = ImportUpload(try UnnamedFile(in: settings.store.path))
        caller.session.keep(upload)
      }
      return try upload.add(piece)
    }
  }

  /// - Returns: the last reply.
  func importItems(
    _ request: StoreMethods.Import, for caller: VarlinkCaller, send: @escaping Send
  ) async throws -> ExchangeStep {
    guard let upload = caller.session.take(ImportUpload.self) else {
      throw CommandFailure(.usage, "nothing was uploaded on this connection")
    }
    let outcome = try await perform(for: caller, send) {
      let outcome = try $0.take(request, from: upload.file.descriptor)
      // At once: it is so, also where the caller hears no more of it.
      log(outcome, for: caller)
      return outcome
    }
    return ExchangeStep(imported: outcome)
  }

  private func log(_ outcome: ImportOutcome, for caller: VarlinkCaller) {
    guard outcome.imported else { return }
    logger.notice(
      "an export is imported",
      metadata: [
        "added": "\(outcome.added)", "replaced": "\(outcome.replaced)",
        "deleted": "\(outcome.deleted)",
        "left_out": "\(outcome.leftOut)", "user": "\(caller.peer.user)",
      ])
  }

  /// Does the work on the queue, and sends meanwhile how far it is and what it names.
  private func perform<R: Sendable>(
    for caller: VarlinkCaller, _ send: Send,
    _ work: @escaping @Sendable (ExportService) throws -> R
  ) async throws -> R {
    let news = ExchangeNews()
    async let result = withTaskCancellationHandler {
      defer { news.finish() }
      return try await queue.run {
        try check(news, caller)
        return try work(service(news, caller))
      }
    } onCancel: {
      news.cancel()
    }
    for await _ in news.arrivals {
      while let step = news.next() { try await send(step) }
    }
    let outcome = try await result
    while let step = news.next() { try await send(step) }
    return outcome
  }

  private func service(_ news: ExchangeNews, _ caller: VarlinkCaller) -> ExportService {
    ExportService(
      keychain: enrolments.keychain, settings: settings, enrolments: enrolments,
      actor: OpenStore.actor(user: caller.peer.user), named: news.add
    ) { done, total in
      try check(news, caller)
      news.show(ExchangeStep.Progress(done: done, total: total))
    }
  }

  /// Whoever has given up should not find it done.
  private func check(_ news: ExchangeNews, _ caller: VarlinkCaller) throws {
    guard news.isCancelled else { return }
    guard caller.session.isOver else {
      throw KeychainError(.userCanceled, "the daemon ends: nothing was done")
    }
    logger.notice(
      "an export or import is given up",
      metadata: ["reason": "nobody waits for it", "user": "\(caller.peer.user)"])
    throw KeychainError(.userCanceled, "nobody waits for it")
  }
}
