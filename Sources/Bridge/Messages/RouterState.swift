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
    let dataset: StaticString =
      "Of the stored dataset; while `adoption` is `sent`, of the reported one; without a dataset, with `mdns` of the record, which has no `channel` and `pan_id`, else only the id that it reports."
    let parameters = router.dataset?.parameters
    let name = router.networkName
    c.field("access_point", router.accessPoint, .label("As it reported."))
    c.field("active_timestamp", router.activeSeconds, .activeTimestamp(dataset))
    c.field(
      "adoption", router.adoption?.state.published,
      "How far [giving it the preferred credentials](#adoption) is; absent where it is not asked about.")
    c.needed("availability", Availability(router.isOnline), "Whether it [can be reached](#presence).")
    c.needed("border_agent_id", router.agent)
    c.field("channel", parameters?.channelNumber, .channel(dataset))
    c.needed("credentials", router.credential, "[What the daemon holds of it](#what-happens-to-a-dataset).")
    c.field(
      "current_ext_pan_id", router.currentNetwork,
      "The network that it reports to be [on](#events-from-routers), or that its record names while its agent is silent; absent where unknown, and while its Thread is off."
    )
    c.field("dataset_changed_at", router.datasetChangedAt, "When its stored dataset changed last.")
    c.field("ext_address", router.extendedAddress.map(WireHex.init), .extendedAddress("As it reported."))
    c.field("ext_pan_id", router.network, ExtendedPANID.form(dataset))
    c.needed("first_seen", router.firstSeenAt, "When it came to the home.")
    c.needed("home", home, .home)
    c.field("model", router.model, .label("As it reported."))
    c.field("name", router.name, .label("As a person has named it, else as it reported."))
    c.field("network_name", name?.isEmpty == true ? nil : name, .networkName(dataset))
    c.field(
      "offline_reason", router.offlineReason, "As the `reason` of [`offline`](#events-from-routers), or `silent`.")
    c.field(
      "omr", router.offMeshPrefix?.prefixText,
      .text(
        "Off-mesh routable prefix, by its record: other hosts reach the devices of its network below it.",
        pattern: "^([0-9a-f]{1,4}:){1,4}:/64$"))
    c.field(
      "own_name", router.ownName == router.name ? nil : router.ownName,
      .label("As it reported, where a person has named it otherwise."))
    c.field("pan_id", parameters?.panID, .panID(dataset))
    c.field(
      "partition_id", router.shownPartition,
      "By its agent, or its record, in whichever order of bytes the router writes it there; absent while it is offline."
    )
    c.field("pending", router.reading?.pending.map(Pending.init), "What its network changes to, as read of it.")
    c.needed("preferred", verdict.published, "`none`: nothing to compare, or on an accepted network.")
    c.field("read_at", router.reading?.readAt, "When it showed itself last that it has the stored dataset.")
    c.field("read_problem", router.reading?.problem, "Why it was not read last time.")
    c.field("shares_by_code", router.sharesByCode, "Whether its record says that a code can open it for a phone.")
    c.needed(
      "source", router.publishedSource,
      "`mqtt`: a login has announced it; `mdns`: only its record on the [local network](../guides/discovery.md), which anybody there can publish; `meshcop`: that, and its dataset was read."
    )
    c.field("ssid", router.ssid, .label("As it reported."))
    c.field(
      "thread_state", router.shownThreadState,
      "As it reported last, or, with `mdns`, by its record. While it is offline only `disabled`.")
    c.field("thread_state_since", router.shownThreadStateSince, "Since when.")
    c.field("thread_version", router.threadVersion, WireForm("Text such as `1.4.0`, by its record.", most: 16))
    c.field("user", router.user, .user("The login that published for it last; absent where none did."))
    c.version()
    c.field("vendor", router.vendor, .label("As it reported."))
  }
}

private struct Pending: WirePart {
  let change: ReadingNote.PendingChange

  static let sample = Pending(change: .init(of: .placeholder, at: WireTime(milliseconds: 0), differs: .channel))

  func fields<Coder: WireCoder>(_ c: inout Coder) {
    c.needed("at", change.at)
    c.field("channel", change.channel, .channel)
    c.needed("differs", change.differs)
    c.field("network_name", change.networkName, .networkName)
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
    let newest: StaticString = "Of the newest dataset; of the preferred network, its own; absent where unknown."
    let parameters = network.dataset?.parameters
    c.needed("accepted", network.isAccepted, "Whether a person has accepted that routers are on it.")
    c.field("active_timestamp", network.dataset?.activeSeconds, .activeTimestamp(newest))
    c.field("channel", parameters?.channelNumber, .channel(newest))
    c.needed("ext_pan_id", network.id)
    c.needed("home", home, .home)
    c.needed("network_name", network.name, .networkName)
    c.field("pan_id", parameters?.panID, .panID(newest))
    c.field("pending", network.pending.map(Pending.init), "What it changes to, as read of a border router.")
    c.needed("preferred", network.isPreferred, "Whether it is the preferred one.")
    c.needed("routers", network.routers, "Border routers on it.")
    c.needed("routers_online", network.online, "Those that can be reached.")
    c.field(
      "shared_by", network.sharedBy.isEmpty ? nil : network.sharedBy,
      .sharingLogins("Logins that [share](#shared-credentials) its credentials; absent without any."))
    c.version()
  }
}
