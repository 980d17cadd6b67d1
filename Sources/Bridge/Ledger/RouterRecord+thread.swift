// SPDX-License-Identifier: Apache-2.0

import Broker
import ThreadDataset

/// Where a router is and how its Thread interface is, as it reports it.
extension RouterRecord {
  /// Takes over what an `announce`, `dataset` or `heartbeat` reports, which also shows that the router is online.
  ///
  /// A heartbeat without these fields leaves them as they are. The other two describe the router as a whole:
  /// what they leave out is not known any more, so a publisher that never reports them is judged by its
  /// datasets alone.
  mutating func takeThreadReport(of event: InboundEvent, now: WireTime) {
    // What its record said meanwhile is over.
    if isAgentSilent, isAdvertised { currentNetwork = nil }
    isRecordGone = false
    isOnline = true
    offlineReason = nil
    let isWhole = event.kind != .heartbeat
    // A router that can be reached and reports no more was restarted.
    if event.threadState != nil || isWhole || threadState == .disabled {
      setThreadState(event.threadState, now: now)
    }
    if threadState == .disabled {
      // The agent of a stopped router continues to name the previous network.
      takeOffline(.stopped, now: now)
    } else if isWhole || event.currentNetwork != nil {
      currentNetwork = event.currentNetwork
    }
  }

  /// Its record on the local network says that the Thread interface is active.
  mutating func takeActiveInterface(now: WireTime) {
    isOnline = true
    offlineReason = nil
    if threadState == .disabled { setThreadState(nil, now: now) }
  }

  mutating func takeOffline(_ reason: OfflineReason?, now: WireTime) {
    isOnline = false
    offlineReason = reason
    if reason == .stopped { setThreadState(.disabled, now: now) }
  }

  private mutating func setThreadState(_ state: ThreadState?, now: WireTime) {
    threadStateReported = state.map { _ in now }
    guard state != threadState else { return }
    threadState = state
    threadStateSince = state.map { _ in now }
  }

  /// Whether a login has announced it that publishes nothing for it now.
  var isAgentSilent: Bool {
    isAnnounced && !isOnline && (offlineReason == nil || offlineReason == .silent)
  }

  /// Whether it takes part in a network, as far as it reports that.
  func isAttached(to network: ExtendedPANID?) -> Bool {
    (currentNetwork == nil || currentNetwork == network) && threadState?.isAttached != false
  }

  /// Whether it runs on another network than the one it is configured for.
  package var isElsewhere: Bool {
    guard let currentNetwork, let network else { return false }
    return currentNetwork != network
  }

  /// Whether it was sent the preferred credentials and has yet to show that it is attached with them.
  var mustAttach: Bool {
    adoption?.mayBeConfirmed == true && threadState?.isAttached == false
  }
}
