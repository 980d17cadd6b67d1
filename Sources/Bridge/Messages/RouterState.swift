import Home
import ThreadDataset
import Wire

/// Whether somebody is there.
package enum Availability: String, WireName {
  case online, offline

  package init(_ isOnline: Bool) { self = isOnline ? .online : .offline }
}

/// `router/<border_agent_id>`, retained: a border router of a home. No secret has a place here.
package struct RouterState: WireObject {
  /// Its name.
  package let home: String
  package let router: Router
  /// See `Home.verdict`.
  package let verdict: PreferredCheck

  package init(_ router: Router, _ verdict: PreferredCheck, in home: String) {
    self.home = home
    self.router = router
    self.verdict = verdict
  }

  package func fields<Coder: WireCoder>(_ c: inout Coder) {
    let parameters = router.dataset?.parameters
    let name = router.networkName
    c.field("access_point", router.accessPoint, .label)
    c.field("active_timestamp", router.activeSeconds, .activeTimestamp)
    c.field("adoption", router.adoption?.state.published, "How far it is with giving it the preferred credentials.")
    c.needed("availability", Availability(router.isOnline), "Whether it can be reached.")
    c.needed("border_agent_id", router.agent)
    c.field("channel", parameters?.channelNumber, .channel)
    c.needed("credentials", router.credential, "What the daemon holds of it.")
    c.field("current_ext_pan_id", router.currentNetwork)
    c.field("dataset_changed_at", router.datasetChangedAt)
    c.field("ext_address", router.extendedAddress.map(WireHex.init), .extendedAddress)
    c.field("ext_pan_id", router.network)
    c.needed("first_seen", router.firstSeenAt)
    c.needed("home", home, .home)
    c.field("model", router.model, .label)
    c.field("name", router.name, .label)
    c.field("network_name", name?.isEmpty == true ? nil : name, .networkName)
    c.field("offline_reason", router.offlineReason, "Why it is offline.")
    c.field("pan_id", parameters?.panID, .panID)
    c.field("partition_id", router.shownPartition, "Partition, as it reports it or by its record on the local network.")
    c.needed("preferred", verdict.published)
    c.needed(
      "source", router.source,
      "mqtt: a login has announced it; mdns: only its record on the local network says that it is there.")
    c.field("ssid", router.ssid, .label)
    c.field("thread_state", router.shownThreadState)
    c.field("thread_state_since", router.shownThreadStateSince)
    c.field(
      "thread_version", router.threadVersion, WireForm("Thread version, by its record on the local network.", most: 16))
    c.field("user", router.user, .user)
    c.version()
    c.field("vendor", router.vendor, .label)
  }
}

/// `network/<ext_pan_id>`, retained: a Thread network of a home. No secret has a place here.
package struct NetworkState: WireObject {
  /// Its name.
  package let home: String
  package let network: NetworkView

  package init(_ network: NetworkView, in home: String) {
    self.home = home
    self.network = network
  }

  package func fields<Coder: WireCoder>(_ c: inout Coder) {
    let parameters = network.dataset?.parameters
    c.needed("accepted", network.isAccepted, "Whether a person has accepted that routers are on it.")
    c.field("active_timestamp", network.dataset?.activeSeconds, .activeTimestamp)
    c.field("channel", parameters?.channelNumber, .channel)
    c.needed("ext_pan_id", network.id)
    c.needed("home", home, .home)
    c.needed("network_name", network.name, .networkName)
    c.field("pan_id", parameters?.panID, .panID)
    c.needed("preferred", network.isPreferred, "Whether it is the preferred one.")
    c.needed("routers", network.routers, "Border routers on it.")
    c.needed("routers_online", network.online, "Those that can be reached.")
    c.field("shared_by", network.sharedBy.isEmpty ? nil : network.sharedBy, .sharingLogins)
    c.version()
  }
}
