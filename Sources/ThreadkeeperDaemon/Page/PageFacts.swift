// SPDX-License-Identifier: Apache-2.0

import Bridge
import KeychainCore
import LocalAPI
import Logging
import Settings
import StatusPage
import ThreadkeeperSupport

/// Answers the HTTP server in the daemon.
struct PageFacts: PageSource {
  let monitor: BridgeMonitor
  let keychain: Keychain
  let settings: Settings
  var discovery: @Sendable () -> DiscoveryState
  private let changes: PageChanges
  private let hasSeveralHomes: Bool

  init(_ context: OperationContext) {
    let bridge = context.bridge
    settings = context.settings
    keychain = context.keychain
    monitor = bridge.monitor
    changes = PageChanges(context: context)
    hasSeveralHomes = bridge.consents.hasSeveralHomes
    discovery = { bridge.discovery?.current ?? .off }
  }

  func metrics() async -> [Metric] {
    (try? await SystemThread.result { [self] in
      let discovery = discovery()
      let now = discovery.isRunning ? SystemClock().now() : nil
      return DaemonMetrics(
        snapshot: monitor.snapshot, figures: monitor.figures, discovery: discovery,
        isStoreWritable: isStoreWritable
      ).all + ((try? RegistryMetrics(Registry(settings, keychain), now: now).all) ?? [])
    }) ?? []
  }

  func make(_ change: PageChange) async throws -> String {
    try await SystemThread.result { [changes] in try changes.make(change) }
  }

  func state() async -> [UInt8]? {
    try? await SystemThread.result { [self] in
      let discovery = discovery()
      var state = PageState(
        health: readiness.checks.map { PageState.Part($0) }
          + [PageState.Part(DaemonState.Discovery(discovery))],
        events: monitor.recent.newest)
      do {
        try state.read(Registry(settings, keychain), isDiscovering: discovery.isRunning)
        state.consents = try ConsentReport.List(keychain, namingHome: hasSeveralHomes).pending
          .map { PageState.Consent($0) }
      } catch {
        // The lists stay as they were known; that the store cannot be read is what is to be shown.
        let failure = VarlinkError(failing: error).commandFailure
        state.noteUnreadable(failure.message, remedy: failure.remedy)
      }
      return Array(try JSONText.line(state).utf8.dropLast())
    }
  }

  private var isStoreWritable: Bool {
    keychain.condition == .healthy && monitor.snapshot.storeProblem == nil
  }

  var readiness: Readiness {
    let snapshot = monitor.snapshot
    return Readiness([
      .init(
        "broker", ok: snapshot.isStatusConnected && snapshot.isIntakeConnected,
        reason: snapshot.lastConnectionProblem ?? "the daemon connects to its broker"),
      .init(
        "store", ok: isStoreWritable,
        reason: snapshot.storeProblem?.reason ?? keychain.condition.words),
      .init("intake", ok: snapshot.intake == .running, reason: snapshot.reason),
    ])
  }
}

extension DiscoveryState {
  /// What is stored about who is advertised may be old otherwise.
  fileprivate var isRunning: Bool {
    if case .running = self { true } else { false }
  }
}
