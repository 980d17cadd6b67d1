import Bridge
import Broker
import FoundationEssentials
import Glibc
import Home
import HomeStore
import KeychainCore
import LocalAPI
import Settings
import StatusPage
import ThreadDataset
import ThreadRequests
import Wire

extension DaemonStatus {
  /// What the condition of a store that cannot be written begins with.
  static let notWritable = "not writable"

  /// - Parameter port: of the broker; nil: as the settings have it.
  init(_ context: OperationContext, port: UInt16? = nil) {
    self = context.bridge.status
    let (settings, login) = (context.settings, context.logins.login)
    pid = getpid()
    broker.host = BrokerAddress(settings.mqtt)?.host ?? "127.0.0.1"
    broker.embedded = settings.mqtt.host.isEmbedded
    broker.port = port ?? settings.mqtt.port
    broker.state = monitor.statusLink.isConnected ? .connected : .connecting
    broker.problem = monitor.statusLink.isConnected ? nil : monitor.lastConnectionProblem
    self.login = Login(login.username, passwordFrom: login.source)
    page = Page(settings.http, besideStore: settings.store.path, context.page)
    add(context.bridge.loop.homes.snapshot, settings, context.store)
  }

  /// What is in the store.
  mutating func add(_ snapshot: HomeSnapshot, _ settings: Settings, _ store: any DaemonStore) {
    version = threadkeeperVersion
    teams = Teams(settings, snapshot)
    let served = snapshot.inOrder(of: settings)
    homes = served.count
    preferred = served.compactMap { name, home in home.preferred.map { Preferred(name, $0.dataset) } }
    protection = served.map { Protected($0.name, $0.home.protection) }
    let damaged = served.filter(\.home.hasDamage).map { "`\($0.name)`" }
    (self.store.path, self.store.id) = (store.place, store.id.description)
    self.store.condition = condition(store.condition, damaged)
  }

  private func condition(_ condition: StoreCondition, _ damaged: [String]) -> String {
    guard condition == .healthy else { return condition.words }
    if let problem = monitor.storeProblem?.reason { return "\(Self.notWritable): \(problem)" }
    return damaged.isEmpty ? condition.words : "damaged: records of home \(damaged.listed) cannot be read"
  }
}

extension DaemonStatus.Page {
  /// - Parameter server: nil where there is none, see `PageServer.init`.
  init(_ http: Settings.HTTP, besideStore store: String, _ server: PageServer?) {
    guard http.isEnabled else {
      self.init(.off)
      return
    }
    switch server?.condition.current {
    case .starting: self.init(.starting)
    case .listening(let port):
      self.init(.listening)
      var http = http
      http.port = UInt16(clamping: port)
      let hasToken = server?.token != nil
      if hasToken || http.trustedProxy == nil { url = PageToken.address(http) }
      needsToken = hasToken || http.trustedProxy != nil
      trustedProxy = http.trustedProxy
    case .unavailable(let problem, let remedy):
      self.init(.unavailable)
      (self.problem, self.remedy) = (problem, remedy)
    case nil:
      self.init(.unavailable)
      problem = "the token cannot be read"
      remedy = "Let the daemon's user read \(http.tokenFile(besideStore: store)), and restart."
    }
  }
}

extension UnlistedRecord {
  /// Without a full stop.
  package var sentence: String { "\"\(name.printable)\" is not listed: \(reason)" }
}

extension HomeSnapshot {
  /// In the order of the settings.
  func inOrder(of settings: Settings) -> [(name: String, home: Home)] {
    settings.homes.compactMap { home in homes[home.name].map { (home.name, $0) } }
  }
}

/// Answers `io.threadkeeper.Status` in the daemon.
struct StatusHandler: LocalAPIHandler {
  /// From one look to the next. Each goes through all border routers, so it is not more often.
  private static let interval = Duration.seconds(1)

  let context: OperationContext
  let port: UInt16?

  var interface: VarlinkInterface { .status }

  var endpoints: [VarlinkEndpoint] {
    [
      StatusMethods.get.answered { _, _ in reply },
      StatusMethods.watch.answered { _, replies in try sendChanges(every: Self.interval, to: replies) { reply } },
    ]
  }

  private var reply: StatusMethods.Reply { .init(status: DaemonStatus(context, port: port)) }
}

/// The methods of `io.threadkeeper.Status`: the report of `threadkeeper status`, made by the daemon itself.
enum StatusMethods {
  struct Reply: Codable { let status: DaemonStatus }

  static let get = VarlinkMethod<VarlinkNothing, Reply>(VarlinkInterface.status.name, "Get", for: .reader)
  static let watch = VarlinkStream<VarlinkNothing, Reply>(VarlinkInterface.status.name, "Watch", for: .reader)
}

/// As it is on the wire.
extension DaemonStatus: Codable {
  package init(from decoder: any Decoder) throws {
    try self.init(reading: Array(JSONEncoder().encode(JSONValue(from: decoder))))
  }

  package func encode(to encoder: any Encoder) throws {
    try JSONDecoder().decode(JSONValue.self, from: Data(json())).encode(to: encoder)
  }
}
