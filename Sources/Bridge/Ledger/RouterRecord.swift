// SPDX-License-Identifier: Apache-2.0

import Broker
import ThreadDataset
import ThreadkeeperSupport

/// A border router's row in the registry.
package struct RouterRecord: Hashable, Sendable {
  var id: Int64 = 0
  var home: Int64
  package var agent: BorderAgentID
  /// The broker's user that spoke for it last.
  package var user: String
  /// The team that the id counts for: the one that owns it, or else that of the login that announced it.
  /// Nil of one that was only seen on the local network.
  var team: String?
  package var name: String?
  package var vendor: String?
  package var model: String?
  package var extendedAddress: [UInt8]?
  package var accessPoint: String?
  package var ssid: String?
  var previousSSID: String?
  /// On the Thread network. Of a router that is not, the row has only its team, since when, whether credentials are
  /// stored for it, and its sequence numbers.
  package var isPresent = true
  package var isOnline = true
  /// It sends heartbeats, so its silence means something.
  var beats = false
  package var credential = CredentialState.missing
  package var network: ExtendedPANID?
  package var networkName: String?
  package var channel: Int?
  package var panID: Int?
  package var activeSeconds: UInt64?
  /// `match`, `mismatch` or `none`.
  package var preferred = "none"
  /// Whether it is to be given the preferred network's credentials; nil where it is not.
  package var adoption: AdoptionState?
  /// The network that it reports to be on, whatever its dataset; nil where it does not report that.
  package var currentNetwork: ExtendedPANID?
  /// What it reported of its Thread interface last; nil where it does not report that.
  package var threadState: ThreadState?
  package var threadStateSince: WireTime?
  /// When it reported that last: heartbeats may come without it.
  var threadStateReported: WireTime?
  /// Nil while it is online, and where it is not known.
  package var offlineReason: OfflineReason?
  /// The preferred network that it was on last; a router that left has none.
  var memberOf: ExtendedPANID?
  package var source = RouterSource.mqtt
  /// Whether its record is on the local network now.
  package var isAdvertised = false
  /// Whether its record has gone from there since its login published last.
  var isRecordGone = false
  /// The partition that it is in; nil where its record does not say, or there is none.
  package var partition: UInt32?
  /// As `1.3.0`.
  package var threadVersion: String?
  /// Whether it was on the preferred network before, has a login, or was accepted by a person.
  package var isKnown = true
  package var firstSeen: WireTime
  package var lastSeen: WireTime
  package var datasetChangedAt: WireTime?
  var order = SequenceWindow()
  /// Bit n: the alert with the number n is held or firing for this router.
  var alerts: Int64 = 0
  /// The id of the event that changed it last.
  var generation: Int64 = 0

  init(home: Int64, agent: BorderAgentID, user: String, now: WireTime) {
    self.home = home
    self.agent = agent
    self.user = user
    self.firstSeen = now
    self.lastSeen = now
  }

  /// The row of an id that is owned, or has numbers, while its router is not on the list.
  init(
    absent agent: BorderAgentID, home: Int64, user: String, team: String?,
    credential: CredentialState, since: WireTime
  ) {
    self.init(home: home, agent: agent, user: user, now: since)
    self.team = team
    self.credential = credential
    isPresent = false
    isOnline = false
  }

  /// How people call it; the id where its name shows nothing.
  var displayName: String {
    guard let name, name.contains(where: { !$0.isWhitespace }) else { return agent.description }
    return name
  }

  /// The same for a sentence, quoted and cut.
  var shownName: String { name.flatMap(ShownName.quoted) ?? agent.description }

  /// Whether a login of the broker has announced it, and it has not left.
  var isAnnounced: Bool { isPresent && source == .mqtt }

  /// What it adds to its network's counts.
  var contribution: NetworkContribution? {
    guard isPresent, let network else { return nil }
    return NetworkContribution(network: network, isOnline: isOnline)
  }

  /// It is on the preferred network now.
  mutating func noteMember(of preferred: ExtendedPANID?, stored: RouterRecord?) {
    // The network became the preferred one around it.
    if memberOf != preferred, let stored, stored.isPresent, stored.network == network {
      isKnown = true
    }
    memberOf = preferred
  }

  mutating func describe(_ dataset: OperationalDataset, at now: WireTime) {
    network = dataset.extendedPANID
    networkName = dataset.networkName
    channel = dataset.channel.map { Int($0.number) }
    panID = dataset.panID.map(Int.init)
    activeSeconds = dataset.activeTimestamp?.seconds
    datasetChangedAt = now
  }

  mutating func forgetDataset() {
    network = nil
    networkName = nil
    channel = nil
    panID = nil
    activeSeconds = nil
  }

  /// The retained state that is published for it.
  package func state(home: String) -> RouterState {
    var state = RouterState(
      home: home, borderAgentID: agent.description, user: user.isEmpty ? nil : user,
      isOnline: isOnline, credentials: credential, preferred: preferred, source: source.rawValue,
      firstSeen: firstSeen)
    state.partitionID = partition
    state.threadVersion = threadVersion
    state.name = name
    state.vendor = vendor
    state.model = model
    state.extendedAddress = extendedAddress.map(Hexadecimal.encode)
    state.extendedPANID = network?.description
    state.networkName = networkName
    state.channel = channel
    state.panID = panID
    state.activeTimestamp = activeSeconds
    state.adoption = adoption?.published
    state.currentExtendedPANID = currentNetwork?.description
    state.threadState = threadState?.rawValue
    state.threadStateSince = threadStateSince
    state.offlineReason = offlineReason?.rawValue
    state.ssid = ssid
    state.accessPoint = accessPoint
    state.datasetChangedAt = datasetChangedAt
    return state
  }
}
