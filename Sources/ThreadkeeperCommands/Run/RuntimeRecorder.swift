// SPDX-License-Identifier: Apache-2.0

import Bridge
import KeychainCore
import ServiceLifecycle
import Settings

#if canImport(Glibc)
  import Glibc
#endif

/// Keeps `run.json` true, for `threadkeeper status`.
struct RuntimeRecorder: Service {
  let settings: Settings
  let port: UInt16
  let monitor: BridgeMonitor
  let keychain: Keychain
  let login: @Sendable () -> LoginInUse

  func run() async throws {
    var written: RuntimeRecord?
    defer { unlink(RuntimeRecord.path(settings)) }
    while !Task.isShuttingDownGracefully, !Task.isCancelled {
      let record = current
      if record != written {
        record.write(settings)
        written = record
      }
      do {
        try await cancelWhenGracefulShutdown { try await Task.sleep(for: .milliseconds(250)) }
      } catch is CancellationError {
        return
      }
    }
  }

  private var current: RuntimeRecord {
    let snapshot = monitor.snapshot
    let login = login()
    return RuntimeRecord(
      pid: getpid(),
      broker: .init(
        settings, state: snapshot.isStatusConnected ? .connected : .connecting,
        problem: snapshot.isStatusConnected ? nil : snapshot.lastConnectionProblem, port: port),
      login: .init(username: login.username, source: login.source),
      intake: .init(snapshot), unlocked: keychain.isUnlocked)
  }
}

extension RuntimeRecord.Intake {
  fileprivate init(_ snapshot: BridgeMonitor.Snapshot) {
    switch snapshot.intake {
    case .running: self.init(state: .running)
    case .connecting: self.init(state: .connecting, reason: snapshot.lastConnectionProblem)
    case .backingOff(let reason): self.init(state: .backingOff, reason: reason)
    }
  }
}
