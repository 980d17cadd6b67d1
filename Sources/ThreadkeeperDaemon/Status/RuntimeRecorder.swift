// SPDX-License-Identifier: Apache-2.0

import Bridge
import KeychainCore
import ServiceLifecycle
import Settings
import Synchronization

#if canImport(Glibc)
  import Glibc
#endif

/// Keeps `run.json` true, for `threadkeeper status`.
final class RuntimeRecorder: Service {
  private let settings: Settings
  private let port: UInt16
  private let monitor: BridgeMonitor
  private let keychain: Keychain
  private let login: @Sendable () -> LoginInUse
  private let written = Mutex<RuntimeRecord?>(nil)

  init(
    _ settings: Settings, port: UInt16, monitor: BridgeMonitor, keychain: Keychain,
    login: @escaping @Sendable () -> LoginInUse
  ) {
    self.settings = settings
    self.port = port
    self.monitor = monitor
    self.keychain = keychain
    self.login = login
  }

  func run() async throws {
    defer { unlink(RuntimeRecord.path(settings)) }
    while !Task.isShuttingDownGracefully, !Task.isCancelled {
      write()
      do {
        try await cancelWhenGracefulShutdown { try await Task.sleep(for: .milliseconds(250)) }
      } catch is CancellationError {
        return
      }
    }
  }

  /// Writes it now, where it is not what was written last. Who is told that something is done finds it in `status`.
  func write() {
    // What is seen within the turn: nothing older is written after it.
    written.withLock { written in
      let record = current
      guard record != written else { return }
      record.write(settings)
      written = record
    }
  }

  /// How it is now.
  var current: RuntimeRecord {
    let snapshot = monitor.snapshot
    let login = login()
    return RuntimeRecord(
      pid: getpid(), places: .init(settings.store),
      broker: .init(
        settings, state: snapshot.isStatusConnected ? .connected : .connecting,
        problem: snapshot.isStatusConnected ? nil : snapshot.lastConnectionProblem, port: port),
      login: .init(username: login.username, source: login.source),
      intake: .init(snapshot), unlocked: keychain.isUnlocked,
      refused: snapshot.refusals.map { .init($0) })
  }
}

extension RuntimeRecord.Intake {
  fileprivate init(_ snapshot: BridgeMonitor.Snapshot) {
    let state: State =
      switch snapshot.intake {
      case .running: .running
      case .connecting: .connecting
      case .backingOff: .backingOff
      }
    self.init(state: state, reason: snapshot.reason)
  }
}

extension RuntimeRecord.Refused {
  /// Topics and words are cut: a client may have chosen a topic, and all of the record has little room.
  init(_ refusals: BridgeMonitor.Refusals) {
    func cut(_ text: String, to most: Int) -> String {
      text.unicodeScalars.count > most
        ? String(String.UnicodeScalarView(text.unicodeScalars.prefix(most))) + "…" : text
    }
    self.init(
      topics: refusals.topics, lastTopic: cut(refusals.last, to: 200),
      problem: cut(refusals.problem, to: 300),
      remedy: refusals.isByAccess
        ? "Nobody hears of it. Put what `threadkeeper acl` prints into the broker's access list; "
          + "`--daemon` names this login."
        : "If that does not say why, the broker's log may.")
  }
}
