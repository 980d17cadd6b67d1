import Broker
import Glibc
import Home
import Logging

/// All that a person can set, checked: a value of this type is fit to run with.
///
/// `SettingsTable.swift` describes each; the defaults stand here. Paths are absolute.
package struct Settings: Sendable, Equatable {
  package var mqtt = MQTT()
  package var store: Store
  /// What each home has, unless a fleet's has it otherwise.
  package var eachHome = HomeSettings()
  /// Of border routers on the local network.
  package var discovery = Discovery.auto
  package var reading = Reading.auto
  package var matterController = MatterController.auto
  /// Where an OpenThread Border Router has its REST interface that is asked for codes.
  package var sharingURL = "http://127.0.0.1:8081"
  package var http = HTTP()
  package var log = Log()
  package var consent = Consent()
  package var limits = Limits()
  package var homeAssistant = HomeAssistant()
  package var fleet = Fleet()
  /// Team → the broker's user names in it. No user is in two of them.
  package var teams: [String: [String]] = [:]
  /// Where programs of other users of this machine call; without a path nowhere. Everybody may connect, and who is no
  /// client is sent away. The socket in the store's directory is for the daemon's own user and root.
  package var clientSocket: String?
  /// User of this machine, by number → the team that its programs speak for.
  package var clientUsers: [UInt32: String] = [:]
  /// At least one; no base topic equals another or lies inside it.
  package var homes = [BaseTopics.Home(name: "home", base: MQTT().baseTopic)]
  /// Where state lies that has no path of its own; see `StateDirectory`.
  package var stateDirectory: String

  /// The defaults, with the store in the state directory.
  package init(stateDirectory: String) {
    self.stateDirectory = stateDirectory
    store = Store(path: stateDirectory + "/store")
  }

  /// Where the encrypted store and what belongs to it lie. Three places apart from each other.
  package struct Store: Sendable, Equatable {
    /// Directory of the store.
    package var path: String
    /// File with the key that opens the store; never inside `path`.
    package var keyFile: String
    /// A passphrase or a recovery code that opens the store, instead of the key file.
    package var passphrase: SecretText?
    /// The database of a fleet, of which this process is a node then. As libpq has it; may hold a password.
    package var url: SecretText?

    /// - Parameter keyFile: nil is the file beside the store.
    package init(path: String, keyFile: String? = nil) {
      self.path = path
      self.keyFile = keyFile ?? path + ".key"
    }

    /// Directory of the anchor, which shows when the store was rolled back.
    package var anchorPath: String { path + ".anchor" }
  }

  /// A node of a fleet: thousands of homes, in shards of one database.
  package struct Fleet: Sendable, Equatable {
    /// Its name; no two nodes have the same.
    package var node = Self.hostName
    /// The host by which others reach it.
    package var address = Self.hostName
    package var shardsAtMost: Int = 64
    /// To the database, for all shards.
    package var connections: Int = 8
    /// Programs of the key service with their arguments, which seal and unseal from standard input to standard output.
    package var sealCommand: [String] = []
    package var unsealCommand: [String] = []

    /// Whether it can be the name of a node.
    static func isNode(_ name: String) -> Bool {
      (1...64).contains(name.utf8.count) && name.utf8.allSatisfy(ASCII.isNameByte)
    }

    private static var hostName: String {
      var name = [CChar](repeating: 0, count: 256)
      guard gethostname(&name, name.count - 1) == 0, name[0] != 0 else { return "localhost" }
      return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
  }

  /// How many events one login may publish.
  package struct Limits: Hashable, Sendable {
    /// Events of one login, a second.
    package var eventsPerSecond: Int = 100
    /// Events of one login at once, after a rest.
    package var eventsBurst: Int = 100_000

    package init() {}
  }
}

extension Settings {
  /// The broker and how to speak to it.
  package struct MQTT: Sendable, Equatable {
    package var host: Host = .embedded
    /// TCP port; for the embedded broker, on 127.0.0.1.
    package var port: UInt16 = 1883
    package var username: String?
    package var password: SecretText?
    /// Without one, the client ids carry the store's identity.
    package var clientID: SecretText?
    package var baseTopic: String = "threadkeeper"
    /// The `instance_id` of a daemon that is gone, whose base topics this one takes over.
    package var takeOver: String?
    package var protocolVersion: MosquittoConfiguration.ProtocolVersion = .v5
    /// Without it the connection is not encrypted.
    package var tls: MosquittoConfiguration.TLS?
    /// Users of this machine that may be a broker on it without TLS, besides root, the own user and `mosquitto`.
    package var brokerUsers: [UInt32] = []

    package init() {}

    package enum Host: Sendable, Equatable {
      /// A private broker that the daemon starts.
      case embedded
      /// A host name or an IP address.
      case named(String)
    }
  }

  package enum Discovery: String, Sendable, CaseIterable {
    /// On where avahi-daemon answers.
    case auto
    case off
  }

  /// Of border routers that are found there.
  package enum Reading: String, Sendable, CaseIterable { case auto, off }

  /// Where what controls the Matter devices of the home runs.
  package enum MatterController: String, Sendable, CaseIterable {
    /// On this machine, while a Matter server listens on its port there.
    case auto
    case here, elsewhere
  }

  /// Who says whether credentials are given out.
  package struct Consent: Sendable, Equatable {
    /// Logins of the broker that may approve and deny over MQTT; never their own requests.
    package var approvers: [String] = []
    package var approversTrust: ApproversTrust = .signed

    /// Which decisions of an approver count.
    package enum ApproversTrust: String, Sendable, Equatable, CaseIterable {
      /// Those that it has sealed and signed, with keys that are enrolled for it.
      case signed
      /// The broker's word for who speaks is enough.
      case broker
    }

    /// Byte by byte, as the broker has it.
    package func isApprover(_ user: String) -> Bool { approvers.contains { $0.utf8.elementsEqual(user.utf8) } }
  }

  /// Home Assistant's MQTT discovery.
  package struct HomeAssistant: Sendable, Equatable {
    package var discovery: Discovery = .on
    /// Home Assistant's discovery prefix: a topic that no home's base topic equals, contains or lies in.
    package var prefix = "homeassistant"
    package var consent: Consent = .adoptions
    /// Home Assistant's login at the broker. Nil: it decides nothing.
    package var login: String?

    /// What Home Assistant may decide about, in plaintext.
    package enum Consent: String, Sendable, Equatable, CaseIterable {
      case off
      /// Whether a router that is enrolled is given the preferred credentials, sealed to it.
      case adoptions
      /// Whatever waits for a person.
      case all
    }

    package enum Discovery: String, Sendable, Equatable, CaseIterable {
      /// The daemon and its routers are announced as devices.
      case on
      /// What was announced before is removed.
      case off
    }

    /// The prefix, where devices are announced.
    package var discoveryPrefix: String? { discovery == .on ? prefix : nil }
    /// Where Home Assistant publishes that it has started.
    package var birthTopic: String { "\(prefix)/status" }

    /// The login that decides about something.
    package var approver: String? { consent == .off ? nil : login }

    /// Byte by byte, as the broker has it.
    package func isApprover(_ user: String) -> Bool { approver?.utf8.elementsEqual(user.utf8) == true }
  }

  /// The HTTP server of the daemon: health, metrics and the status page.
  package struct HTTP: Sendable, Equatable {
    package var isEnabled = true
    /// An IP address of this machine; `0.0.0.0` or `::` for all.
    package var address = "127.0.0.1"
    package var port: UInt16 = 8423
    /// What a client of another address has to have: characters that need no quoting in a URL.
    package var token: SecretText?
    /// Host names under which clients reach it, beside `localhost` and IP addresses.
    package var names: [String] = []
    /// IP address of a proxy that lets in only users that it knows, as Home Assistant's ingress does. What comes from it
    /// needs no token; everybody else needs one. Not loopback: every user of this machine could speak for it.
    package var trustedProxy: String?
    /// Whether what comes from it may also change something without the token.
    package var trustedProxyChanges = false

    package init() {}

    /// Whether the token comes from its file beside the store.
    package var isTokenFromFile = false
    /// Whether there is, or may be, a file with a token that this user cannot read. Then nobody is let in without one.
    package var isTokenUnreadable = false

    /// Where `threadkeeper page token` puts the token; read where the settings have none.
    package func tokenFile(besideStore store: String) -> String { "\(store).http-token" }
  }

  package struct Log: Sendable, Equatable {
    /// The least severe level that is written.
    package var level: Logger.Level = .info
    package var format: Format = .text

    package enum Format: String, Sendable, Equatable, CaseIterable {
      /// Lines for people.
      case text
      /// One JSON object a line.
      case json
    }
  }
}

extension Settings {
  /// Which teams users of the broker speak for. Of the names of `client_users`, none is given to a user of the broker.
  package var brokerTeams: BrokerTeams { BrokerTeams(teams, others: Set(clientUsers.values)) }

  /// The team that a user of the broker speaks for: see `BrokerTeams.team`.
  package func team(ofUser user: String) -> String { brokerTeams.team(of: user) }

  /// The team that a user of this machine speaks for: what `client_users` says, otherwise, for those
  /// whose store it is, a team of the user's own, `uid/<number>`. No other team has such a name.
  ///
  /// - Parameters:
  ///   - user: as the kernel has it.
  ///   - daemon: the user whose daemon it is.
  /// - Returns: nil for a user who is nobody here.
  package func team(ofUID user: UInt32, daemon: UInt32 = geteuid()) -> String? {
    if let team = clientUsers[user] { return team }
    return user == daemon || user == 0 ? "uid/\(user)" : nil
  }

  /// Whether nobody can speak for a team that owns a border agent id.
  ///
  /// The broker's logins are unknown here, so silence proves nothing: a login that no team lists is a team of
  /// its own, and may come back any day. A team is abandoned where the settings have its only login speak
  /// for another team, or where the login that spoke last for the id speaks for another team since and no
  /// login of the team's name was ever seen.
  ///
  /// - Parameters:
  ///   - lastLogin: the user of the broker that spoke last for the id; nil where none is known.
  ///   - seen: users of the broker that have spoken for any router.
  package func isAbandoned(_ team: String, lastLogin: String?, seen: Set<String>) -> Bool {
    let hasProgram = clientUsers.values.contains(team)
    if teams[team] != nil || hasProgram { return teams[team]?.isEmpty == true && !hasProgram }
    if let user = Self.rest(of: team, after: "uid/") { return UInt32(user).flatMap { clientUsers[$0] } != nil }
    let own = Self.rest(of: team, after: "user/") ?? team
    guard self.team(ofUser: own).utf8.elementsEqual(team.utf8) else { return true }
    guard let lastLogin else { return false }
    return !self.team(ofUser: lastLogin).utf8.elementsEqual(team.utf8) && !seen.contains(own)
  }

  /// Teams that the settings list without any user.
  package var emptyTeams: [String] {
    teams.filter { $0.value.isEmpty && !clientUsers.values.contains($0.key) }.keys.sorted()
  }

  private static func rest(of team: String, after prefix: String) -> String? {
    guard team.utf8.starts(with: prefix.utf8) else { return nil }
    return String(Substring(team.utf8.dropFirst(prefix.utf8.count)))
  }
}

/// Text that no description, dump or interpolation shows: only `revealed` does.
package struct SecretText: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable
{
  package let revealed: String

  package init(_ revealed: String) { self.revealed = revealed }

  package var description: String { "<secret>" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }
}
