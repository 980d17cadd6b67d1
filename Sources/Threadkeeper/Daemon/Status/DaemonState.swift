import Bridge
import Glibc
import Settings
import StatusPage

/// How the daemon is while it runs: what only its own process knows, and the local API tells.
struct DaemonState: Equatable, Sendable {
  struct Broker: Codable, Equatable, Sendable {
    enum State: String, Codable, Sendable { case connecting, connected }

    var host: String
    var port: Int
    var embedded: Bool
    var state: State
    var problem: String?

    init(_ settings: Settings, port: UInt16, state: State, problem: String? = nil) {
      (host, embedded) =
        switch settings.mqtt.host {
        case .embedded: ("127.0.0.1", true)
        case .named(let name): (name, false)
        }
      self.port = Int(port)
      self.state = state
      self.problem = problem
    }
  }

  /// Whether events are taken up, in the words of `bridge/health`.
  struct Intake: Codable, Equatable, Sendable {
    enum State: String, Codable, Sendable {
      case running, connecting
      case backingOff = "backing_off"
    }

    var state: State
    var reason: String?
  }

  struct Login: Codable, Equatable, Sendable {
    var username: String?
    var passwordFrom: LoginInUse.Source
  }

  /// What the broker does not take from the daemon.
  struct Refused: Codable, Equatable, Sendable {
    var topics: Int
    var lastTopic: String
    /// Words of the last.
    var problem: String
    var remedy: String
  }

  var pid: Int32
  var broker: Broker
  /// Whom the daemon says it is to its broker. Its settings may be others than those of who asks.
  var login: Login
  var intake: Intake
  /// Why the store cannot be written, and what to do; nil: it can.
  var storeProblem: String?
  /// Nil while it takes everything.
  var refused: Refused?
  var discovery: Discovery
  var page: Page
}

extension DaemonState {
  /// How the search for border routers on the local network is.
  struct Discovery: Codable, Equatable, Sendable {
    enum State: String, Codable, Sendable { case off, starting, running, unavailable }

    var state: State
    /// Border routers that are advertised now.
    var routers: Int?
    /// Records that are not listed, and why.
    var unlisted: [UnlistedRecord]?
    var problem: String?
    var remedy: String?

    init(_ state: DiscoveryState) {
      switch state {
      case .off: self.state = .off
      case .starting: self.state = .starting
      case .running(let routers, let unlisted):
        self.state = .running
        (self.routers, self.unlisted) = (routers, unlisted)
      case .unavailable(let message, let remedy):
        self.state = .unavailable
        (problem, self.remedy) = (message, remedy)
      }
    }
  }
}

extension UnlistedRecord {
  /// Without a full stop.
  var sentence: String { "\"\(name.printable)\" is not listed: \(reason)" }
}

extension DaemonState {
  /// Whether a browser can open the status page.
  struct Page: Codable, Equatable, Sendable {
    enum State: String, Codable, Sendable { case off, starting, listening, unavailable }

    var state: State
    /// Where a browser opens it, without the token; nil unless it is `listening`, and where only the trusted proxy
    /// opens it.
    var url: String?
    /// Whether it is shown with the token only, or through the trusted proxy.
    var needsToken: Bool?
    /// IP address of the trusted proxy that shows it; nil unless it is `listening`.
    var trustedProxy: String?
    var problem: String?
    var remedy: String?

    init(_ state: State) { self.state = state }

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
}

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
        settings, port: port, state: snapshot.isStatusConnected ? .connected : .connecting,
        problem: snapshot.isStatusConnected ? nil : snapshot.lastConnectionProblem),
      login: .init(username: login.username, passwordFrom: login.source), intake: .init(snapshot),
      storeProblem: snapshot.storeProblem?.reason, refused: snapshot.refused.map { .init($0) },
      discovery: .init(discovery()), page: .init(settings.http, besideStore: settings.store.path, server))
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
  init(_ refusal: Refusal) {
    self.init(
      topics: refusal.count, lastTopic: Self.cut(refusal.topic, to: 200), problem: Self.cut(refusal.problem, to: 300),
      remedy: refusal.remedy)
  }

  /// Topics and words are cut: a client may have chosen a topic.
  private static func cut(_ text: String, to most: Int) -> String {
    text.unicodeScalars.count > most ? String(String.UnicodeScalarView(text.unicodeScalars.prefix(most))) + "…" : text
  }
}
