import Glibc
import ServiceDiscovery
import Settings
import ThreadkeeperSupport

/// Brokers that are there for setup to offer. Which one is used is a person's choice, by its number: whoever is on the
/// local network can announce one, and gets the login.
struct OfferedBrokers: Sendable, Equatable {
  struct Broker: Sendable, Equatable {
    /// As `mosquitto on homeassistant.local`.
    let name: String
    /// What is answered for it: `homeassistant.local:1883`.
    let answer: String
  }

  var brokers: [Broker] = []
  /// Why the network cannot be looked at, as a sentence.
  var obstacle: String?

  /// Further lines of the question; empty where there is nothing to choose.
  var text: String {
    guard !brokers.isEmpty else { return obstacle.map { "\nBrokers of your network are not looked for: \($0)" } ?? "" }
    let rows = brokers.enumerated().map { "\n  \($0 + 1)  \($1.name.printable) (\($1.answer))" }
    return "\nThese answer in your network; a number takes one:\(rows.joined())"
  }

  /// - Parameter typed: the number of one, or something else, which stays.
  func answer(_ typed: String) -> String {
    guard let number = Int(typed), brokers.indices.contains(number - 1) else { return typed }
    return brokers[number - 1].answer
  }
}

/// Looks for brokers on the local network, by avahi-daemon: those that announce `_mqtt._tcp`, and Home Assistant's own,
/// which does not. Offered is what takes a connection.
struct BrokerSearch {
  private enum Kind: String, CaseIterable {
    case broker = "_mqtt._tcp"
    case homeAssistant = "_home-assistant._tcp"
  }

  private enum Finding {
    case update(Kind, ServiceUpdate)
    /// Nil: nobody answers there.
    case tried(Candidate?)
  }

  /// What may be one, at several names of the same host.
  private struct Candidate {
    let kind: Kind
    let name: String
    /// The best first.
    var hosts: [String]
    let port: UInt16
    /// Of the host, which may have several names.
    let address: String

    init(_ kind: Kind, _ record: ServiceRecord) {
      self.kind = kind
      // Home Assistant announces a host name that is an id, and its own address for people.
      let own = kind == .homeAssistant ? record.text["internal_url"].flatMap(Self.localName) : nil
      hosts = [own, record.host, record.address].compactMap { $0 }.filter(HostName.isFit)
      port = kind == .broker ? record.port : BrokerSearch.port
      address = record.address ?? record.host
      let shown = own ?? record.host
      name =
        kind == .broker ? "\(record.name) on \(shown)" : "the broker of Home Assistant \"\(record.name)\" on \(shown)"
    }

    /// With the names at which somebody answers; nil: at none.
    var reached: Candidate? {
      var reached = self
      reached.hosts = Array(hosts.drop { !takesConnections($0, port) })
      return reached.hosts.isEmpty ? nil : reached
    }

    /// `homeassistant.local` of `http://homeassistant.local:8123`.
    private static func localName(_ url: [UInt8]) -> String? {
      let host = String(decoding: url, as: UTF8.self).split(separator: "/").dropFirst().first?.prefix { $0 != ":" }
      return host.flatMap { $0.hasSuffix(".local") && HostName.isFit(String($0)) ? String($0) : nil }
    }
  }

  private static let port: UInt16 = 1883
  /// Of each kind: anybody can announce any number.
  private static let most = 9
  /// Each has a thread; a host may have several addresses.
  private static let mostTries = 36

  /// - Parameter limit: when it ends at the latest.
  static func run(within limit: Duration = .seconds(2)) async -> OfferedBrokers {
    let (findings, report) = AsyncStream.makeStream(of: Finding.self)
    var offered = OfferedBrokers()
    let browsers = Kind.allCases.map { kind in
      ServiceBrowser(type: kind.rawValue, limits: ServiceLimits(maximumServices: most)) {
        report.yield(.update(kind, $0))
      }
    }
    for browser in browsers {
      do { try browser.start() } catch { offered.obstacle = (error as? DiscoveryObstacle)?.message }
    }
    let end = Task {
      try? await Task.sleep(for: limit)
      report.finish()
    }
    defer { end.cancel() }
    var candidates: [Candidate] = []
    var (tries, lists) = (0, browsers.count)
    var tried: Set<String> = []
    for await finding in findings {
      switch finding {
      case .update(let kind, .found(let record)):
        let candidate = Candidate(kind, record)
        guard tried.count < mostTries, tried.insert("\(candidate.hosts) \(candidate.port)").inserted else { break }
        tries += 1
        inBackground { report.yield(.tried(candidate.reached)) }
      case .update(_, .listed): lists -= 1
      case .update(_, .unavailable(let obstacle)):
        offered.obstacle = obstacle.message
        lists -= 1
      case .update(_, .lost), .update(_, .unusable): break
      case .tried(let candidate):
        tries -= 1
        if let candidate { candidates.append(candidate) }
      }
      if tries == 0, lists <= 0 { break }
    }
    // Until here they look.
    withExtendedLifetime(browsers) {}
    offered.brokers = brokers(candidates)
    return offered
  }

  /// Those that announce themselves first, each once.
  private static func brokers(_ candidates: [Candidate]) -> [OfferedBrokers.Broker] {
    var places: Set<String> = []
    let sorted = candidates.sorted { ($0.kind == .broker ? 0 : 1, $0.name) < ($1.kind == .broker ? 0 : 1, $1.name) }
    return sorted.compactMap { candidate in
      guard let host = candidate.hosts.first, places.insert("\(candidate.address) \(candidate.port)").inserted else {
        return nil
      }
      return .init(name: candidate.name, answer: "\(HostAndPort(host, candidate.port))")
    }.prefix(most).map { $0 }
  }

  /// The system's resolver may wait longer than anybody does here; such a thread ends by itself.
  private static func inBackground(_ body: @escaping @Sendable () -> Void) { (try? SystemThread(body))?.detach() }
}

/// Whether an address of a host takes a TCP connection, each within a second.
private func takesConnections(_ host: String, _ port: UInt16) -> Bool {
  var hints = addrinfo()
  hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
  var found: UnsafeMutablePointer<addrinfo>?
  guard getaddrinfo(host, "\(port)", &hints, &found) == 0 else { return false }
  defer { freeaddrinfo(found) }
  var next = found?.pointee
  while let address = next {
    if takesConnection(address) { return true }
    next = address.ai_next?.pointee
  }
  return false
}

private func takesConnection(_ address: addrinfo) -> Bool {
  let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
  let descriptor = socket(address.ai_family, kind, 0)
  guard descriptor >= 0 else { return false }
  defer { close(descriptor) }
  if connect(descriptor, address.ai_addr, address.ai_addrlen) == 0 { return true }
  var polled = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
  guard errno == EINPROGRESS else { return false }
  var ready: Int32
  repeat { ready = poll(&polled, 1, 1_000) } while ready < 0 && errno == EINTR
  guard ready == 1 else { return false }
  var code: Int32 = 0
  var length = socklen_t(MemoryLayout<Int32>.size)
  return getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length) == 0 && code == 0
}
