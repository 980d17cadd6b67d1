// SPDX-License-Identifier: Apache-2.0

import Broker
import ThreadDataset

/// What an advertisement on the local network changes of a router. Credentials, owner and login stay as they are, and of
/// a router that a login has announced everything that its events describe.
extension RouterRecord {
  mutating func take(_ advertisement: BorderRouterAdvertisement, now: WireTime) {
    isAdvertised = true
    isRecordGone = false
    threadVersion = advertisement.threadVersion ?? threadVersion
    switch source {
    case .mdns:
      name = advertisement.name ?? name
      vendor = advertisement.vendor ?? vendor
      model = advertisement.model ?? model
      extendedAddress = advertisement.extendedAddress ?? extendedAddress
      takeInterface(isActive: advertisement.isThreadActive, now: now)
      if credential == .missing {
        currentNetwork = nil
        takeNetwork(of: advertisement, now: now)
      } else {
        // What is stored for it says what it is configured for, its record where it is.
        currentNetwork = advertisement.network
      }
    case .mqtt:
      vendor = vendor ?? advertisement.vendor
      model = model ?? advertisement.model
      // While its agent is silent, only its record says where it is.
      if isAgentSilent { currentNetwork = advertisement.network ?? currentNetwork }
    }
    let current = currentNetwork ?? network
    partition = advertisement.network == current ? advertisement.partition : nil
  }

  /// Its record has gone, or has expired: it restarts, or is off. It has not left.
  mutating func endAdvertisement(seen: WireTime, now: WireTime) {
    withdrawAdvertisement()
    guard source == .mdns else {
      isRecordGone = true
      return
    }
    lastSeen = max(lastSeen, seen)
    takeOffline(nil, now: now)
  }

  /// Nothing is known of its record any more.
  mutating func withdrawAdvertisement() {
    isAdvertised = false
    isRecordGone = false
    partition = nil
    if isAgentSilent { currentNetwork = nil }
  }

  private mutating func takeInterface(isActive: Bool, now: WireTime) {
    if isActive {
      takeActiveInterface(now: now)
    } else {
      takeOffline(.stopped, now: now)
    }
  }

  private mutating func takeNetwork(of advertisement: BorderRouterAdvertisement, now: WireTime) {
    // The timestamp is missing while it is not attached.
    let seconds =
      advertisement.activeSeconds ?? (advertisement.network == network ? activeSeconds : nil)
    if network != advertisement.network || activeSeconds != seconds { datasetChangedAt = now }
    network = advertisement.network
    networkName = advertisement.network == nil ? nil : advertisement.networkName
    activeSeconds = advertisement.network == nil ? nil : seconds
    channel = nil
    panID = nil
  }
}
