import Home
import ThreadDataset
import Wire

/// How the daemon is: what `bridge/health`, `threadkeeper status`, the local API, the page and metrics are written from.
/// The bridge fills in what it knows of itself, and who runs it the rest.
package struct DaemonStatus: WirePart, WireMessage, WireReadable, Sendable {
  package var version = ""
  package var pid: Int32 = 0
  /// Of all homes.
  package var counts = HomeCounts()
  /// That are served.
  package var homes = 0
  package var preferred: [Preferred] = []
  package var protection: [Protected] = []
  package var broker = Connection()
  package var login = Login()
  package var intake = Intake()
  /// Nil while the broker takes everything.
  package var refused: Refusal?
  package var discovery = DiscoveryState()
  package var page = Page()
  package var store = Store()
  package var teams = Teams()

  // What `threadkeeper status` does not show.
  package var monitor = BridgeMonitor.Snapshot()
  package var requests = RequestService.Figures()
  /// Stored messages that the broker has not acknowledged.
  package var waiting = 0
  /// Milliseconds.
  package var uptime: Int64 = 0
  package var isStoreWritable = true
  /// When a backup of the store was made last, as far as is known.
  var lastBackup: WireTime?

  package init() {}

  /// What the bridge knows.
  package init(
    _ monitor: BridgeMonitor.Snapshot, _ counts: HomeCounts, _ requests: RequestService.Figures, waiting: Int,
    uptime: Int64
  ) {
    (self.monitor, self.counts, self.requests) = (monitor, counts, requests)
    (self.waiting, self.uptime) = (waiting, uptime)
    (intake, refused) = (monitor.intake, monitor.refused)
  }

  package mutating func fields<Coder: WireCoder>(_ c: inout Coder) {
    c.needed("alerts", counts.alertsFiring)
    c.needed("alerts_firing", &counts.firing)
    c.needed("broker", &broker)
    c.needed("credentials", &counts.credentials)
    c.needed("discovery", &discovery)
    c.needed("homes", &homes)
    c.needed("intake", &intake)
    c.needed("login", &login)
    c.needed("networks", &counts.networks)
    c.needed("page", &page)
    c.needed("pid", &pid)
    c.needed("preferred_networks", &preferred)
    c.needed("protection", &protection)
    c.field("refused", &refused)
    c.needed("routers", &counts.routers.listed)
    c.needed("routers_detached", &counts.routers.detached)
    c.needed("routers_elsewhere", &counts.routers.elsewhere)
    c.needed("routers_offline", &counts.routers.offline)
    c.needed("store", &store)
    c.needed("teams", &teams)
    c.needed("version", &version)
  }
}

extension DaemonStatus {
  /// Whether events are taken up.
  package struct Intake: WirePart, WireMessage, WireReadable, Equatable, Sendable {
    package enum State: String, WireName, Sendable {
      case running, connecting
      case backingOff = "backing_off"
    }

    package var state = State.connecting
    /// What is wrong, and what to do.
    package var reason: String?

    package init() {}

    init(_ state: State, _ reason: String?) { (self.state, self.reason) = (state, reason) }

    package mutating func fields<Coder: WireCoder>(_ c: inout Coder) {
      c.field("reason", &reason)
      c.needed("state", &state)
    }
  }

  /// The connection to the broker.
  package struct Connection: WirePart, WireMessage, WireReadable, Sendable {
    package enum State: String, WireName, Sendable { case connecting, connected }

    package var host = ""
    package var port: UInt16 = 0
    /// Whether the daemon has started the broker.
    package var embedded = false
    package var state = State.connecting
    package var problem: String?

    package init() {}

    package mutating func fields<Coder: WireCoder>(_ c: inout Coder) {
      c.needed("embedded", &embedded)
      c.needed("host", &host)
      c.needed("port", &port)
      c.field("problem", &problem)
      c.needed("state", &state)
    }
  }

  /// Whom the daemon says it is to its broker. Its settings may be others than those of who asks.
  package struct Login: WirePart, WireMessage, WireReadable, Sendable {
    package enum Source: String, WireName, Sendable {
      /// `mqtt.password`: it wins over what is stored.
      case settings
      /// Stored by `threadkeeper login`.
      case keychain
      /// There is no password.
      case none
      /// There may be one in the store, which cannot be read.
      case unreadable
      /// The private broker made it.
      case embedded
    }

    package var username: String?
    package var passwordFrom = Source.none

    package init() {}

    package init(_ username: String?, passwordFrom: Source) {
      (self.username, self.passwordFrom) = (username, passwordFrom)
    }

    package mutating func fields<Coder: WireCoder>(_ c: inout Coder) {
      c.needed("password_from", &passwordFrom)
      c.field("username", &username)
    }
  }

  /// Whether a browser can open the status page.
  package struct Page: WirePart, WireMessage, WireReadable, Sendable {
    package enum State: String, WireName, Sendable { case off, starting, listening, unavailable }

    package var state = State.off
    /// Where a browser opens it, without the token; nil unless it is `listening`, and where only the trusted proxy
    /// opens it.
    package var url: String?
    /// Whether it is shown with the token only, or through the trusted proxy.
    package var needsToken: Bool?
    /// IP address of the trusted proxy that shows it; nil unless it is `listening`.
    package var trustedProxy: String?
    package var problem: String?
    package var remedy: String?

    package init() {}

    package init(_ state: State) { self.state = state }

    package mutating func fields<Coder: WireCoder>(_ c: inout Coder) {
      c.field("needs_token", &needsToken)
      c.field("problem", &problem)
      c.field("remedy", &remedy)
      c.needed("state", &state)
      c.field("trusted_proxy", &trustedProxy)
      c.field("url", &url)
    }
  }

  package struct Store: WirePart, WireMessage, WireReadable, Sendable {
    package var path = ""
    package var id = ""
    package var condition = ""

    package init() {}

    package mutating func fields<Coder: WireCoder>(_ c: inout Coder) {
      c.needed("condition", &condition)
      c.needed("id", &id)
      c.needed("path", &path)
    }
  }

  /// The preferred network of a home.
  package struct Preferred: WirePart, WireMessage, WireReadable, Sendable {
    package var home = ""
    package var name = ""
    package var network = ""

    package init() {}

    package init(_ home: String, _ dataset: DatasetSummary) {
      (self.home, name, network) = (home, dataset.name, dataset.network.description)
    }

    package mutating func fields<Coder: WireCoder>(_ c: inout Coder) {
      c.needed("ext_pan_id", &network)
      c.needed("home", &home)
      c.needed("network_name", &name)
    }
  }

  /// How far a home is protected.
  package struct Protected: WirePart, WireMessage, WireReadable, Sendable {
    package var home = ""
    package var state = Protection.State.notProtected
    package var missing: [Protection.Step] = []

    package init() {}

    package init(_ home: String, _ protection: Protection) {
      (self.home, state, missing) = (home, protection.state, protection.missing)
    }

    package mutating func fields<Coder: WireCoder>(_ c: inout Coder) {
      c.needed("home", &home)
      c.needed("missing", &missing)
      c.needed("state", &state)
    }
  }

  /// Teams for which nobody can speak any more.
  package struct Teams: WirePart, WireMessage, WireReadable, Sendable {
    /// A border agent id whose team is gone. Its router is refused, whoever announces it.
    package struct AbandonedID: WirePart, WireMessage, WireReadable, Equatable, Sendable {
      package var home = ""
      package var agent = ""
      package var team = ""

      package init() {}

      package init(home: String, agent: String, team: String) {
        (self.home, self.agent, self.team) = (home, agent, team)
      }

      package mutating func fields<Coder: WireCoder>(_ c: inout Coder) {
        c.needed("border_agent_id", &agent)
        c.needed("home", &home)
        c.needed("team", &team)
      }
    }

    /// Teams of the settings without a user.
    package var empty: [String] = []
    package var abandoned: [AbandonedID] = []

    package init() {}

    package mutating func fields<Coder: WireCoder>(_ c: inout Coder) {
      c.needed("abandoned_ids", &abandoned)
      c.needed("empty", &empty)
    }
  }
}
