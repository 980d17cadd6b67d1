// SPDX-License-Identifier: Apache-2.0

import Bridge
import Settings
import StatusPage

#if canImport(Glibc)
  import Glibc
#endif

/// Reads how the daemon is now, for the local API.
struct DaemonStateReader: Sendable {
  let settings: Settings
  /// Of the broker.
  let port: UInt16
  let monitor: BridgeMonitor
  let discovery: @Sendable () -> DiscoveryState
  /// Nil where there is no page.
  let server: PageServer?
  let login: @Sendable () -> LoginInUse

  /// How it is now.
  var current: DaemonState {
    let snapshot = monitor.snapshot
    let login = login()
    return DaemonState(
      pid: getpid(),
      broker: .init(
        settings, state: snapshot.isStatusConnected ? .connected : .connecting,
        problem: snapshot.isStatusConnected ? nil : snapshot.lastConnectionProblem, port: port),
      login: .init(username: login.username, source: login.source),
      intake: .init(snapshot),
      refused: snapshot.refusals.map { .init($0) } ?? snapshot.refusedDevices.map { .init($0) },
      discovery: .init(discovery()),
      page: .init(settings.http, besideStore: settings.store.path, server))
  }
}

extension DaemonState.Intake {
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

extension DaemonState.Refused {
  init(_ devices: RefusedDevices) {
    self.init(
      topics: devices.count, lastTopic: Self.cut(devices.topic, to: 200),
      problem: Self.cut(devices.problem, to: 300), remedy: devices.remedy)
  }

  /// Topics and words are cut: a client may have chosen a topic.
  private static func cut(_ text: String, to most: Int) -> String {
    text.unicodeScalars.count > most
      ? String(String.UnicodeScalarView(text.unicodeScalars.prefix(most))) + "…" : text
  }

  init(_ refusals: BridgeMonitor.Refusals) {
    self.init(
      topics: refusals.topics, lastTopic: Self.cut(refusals.last, to: 200),
      problem: Self.cut(refusals.problem, to: 300),
      remedy: refusals.isByAccess
        ? "Nobody hears of it. Put what `threadkeeper acl` prints into the broker's access list; "
          + "`--daemon` names this login."
        : "If that does not say why, the broker's log may.")
  }
}
