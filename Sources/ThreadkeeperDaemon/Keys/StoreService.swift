// SPDX-License-Identifier: Apache-2.0

import ClientEnrolment
import DaemonSocket
import Dispatch
import KeychainCore
import Logging
import ServiceLifecycle
import Settings
import Synchronization

/// Does with the store what commands ask for, renews its keys in the background, and locks it when it
/// is idle.
final class StoreService: Service, DaemonRequestAnswering {
  let settings: Settings
  let keychain: Keychain
  let enrolments: ClientEnrolmentStore
  let logger: Logger
  let rotation = Mutex(Rotating())
  let isEnding = Mutex(false)
  /// Of an export or import that is under way.
  let progress = Mutex<StoreReport.Progress?>(nil)
  /// One after the other: each may wait for the disk, and a passphrase takes its time.
  private let turns = DispatchQueue(label: "threadkeeper.store")
  /// Exports and imports, which can take minutes.
  private let exchanges = DispatchQueue(label: "threadkeeper.exchange")
  /// Whoever locks the store waits for none of them.
  private let locking = DispatchQueue(label: "threadkeeper.lock")
  let notes: LockNotes
  let rotating = DispatchQueue(label: "threadkeeper.rotation", qos: .utility)
  private let record: @Sendable () -> Void

  /// - Parameters:
  ///   - enrolments: those of the intake, which remembers whom it knows.
  ///   - record: writes down how the daemon is, for `status`.
  init(
    _ settings: Settings, enrolments: ClientEnrolmentStore, logger: Logger,
    record: @escaping @Sendable () -> Void = {}
  ) {
    self.settings = settings
    self.record = record
    self.enrolments = enrolments
    keychain = enrolments.keychain
    self.logger = logger
    notes = LockNotes(keychain, logger: logger)
  }

  func run() async throws {
    goOnRotating()
    while !Task.isShuttingDownGracefully, !Task.isCancelled {
      if keychain.lockIfIdle(for: settings.store.lockAfterSeconds) {
        logger.notice("the store is locked", metadata: ["reason": "nothing in it was used"])
        notes.add(.locked, "nothing in it was used", within: .seconds(0))
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
    await notes.end()
  }

  private func queue(for command: StoreRequest.Command) -> DispatchQueue {
    switch command {
    case .exportItems, .importItems: exchanges
    case .lock: locking
    default: turns
    }
  }

  /// - Parameter connection: it tells who asks, by what the kernel says.
  /// - Returns: nil when it is no request of this kind.
  func answer(_ bytes: [UInt8], _ connection: DaemonConnection) async -> [UInt8]? {
    guard let request = StoreRequest(bytes: bytes) else { return nil }
    // While the work itself has its turn, or an export that takes long.
    guard request.command != .progress, request.command != .rotation else {
      return request.answer { try report(request, connection) }
    }
    return await withTaskCancellationHandler {
      await request.answer(on: queue(for: request.command)) { [self] in
        try report(request, connection)
      }
    } onCancel: {
      // The listener ends, and waits for what is under way.
      isEnding.withLock { $0 = true }
    }
  }

  private func report(
    _ request: StoreRequest, _ connection: DaemonConnection
  ) throws -> StoreReport {
    let actor = OpenStore.actor(user: connection.peer.user)
    let actions = StoreActions(keychain: keychain, settings: settings, actor: actor, notes: notes)
    // Before the answer, also where it is a failure: the store may be locked all the same.
    defer { if [.lock, .unlock].contains(request.command) { record() } }
    switch request.command {
    case .progress: return StoreReport(progress: progress.withLock { $0 })
    case .rotation: return StoreReport(rotation: rotation.withLock { $0.report })
    case .rotateKeys:
      var report = try actions.renewRoots(request)
      if request.roots != nil { logger.notice("the root keys of the store are new") }
      beginRotation(for: actor, request.roots == nil ? .newKeys : .newRoots)
      report.rotation = rotation.withLock { $0.report }
      return report
    case .exportItems, .importItems:
      return try exchange(request, connection)
    default:
      let report = try actions.answer(request)
      tell(request, report)
      if request.command == .unlock { goOnRotating() }
      return report
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
    case .listKeys, .rotateKeys, .rotation, .exportItems, .importItems, .progress: break
    }
  }
}
