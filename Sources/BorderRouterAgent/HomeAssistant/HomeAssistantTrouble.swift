import CLibCurl
import Glibc
import SodiumCrypto

/// Why Home Assistant's Thread store can't be read, and what to do about it. Shows nothing secret, and of what was
/// answered a status or a code at most.
package enum HomeAssistantTrouble: Error, Equatable, Sendable, CustomStringConvertible {
  /// Nothing accepts the connection. With the system's words.
  case unreachable(String)
  /// On this machine, and a program of another user than Home Assistant's listens there. Nothing was sent.
  case untrusted(String)
  /// No answer in time.
  case timeout
  /// The certificate does not verify. With libcurl's words.
  case certificate(String)
  /// TLS does not begin. With libcurl's words.
  case noTLS(String)
  /// The answer to the upgrade is not 101; 0: it is no answer of HTTP.
  case status(Int)
  /// There is no token to be read. Why.
  case noToken(String)
  case wrongToken
  case notAdministrator
  /// It does not know the commands of the Thread store, and which version it is.
  case unknownCommand(HomeAssistantVersion?)
  /// More than the most bytes of an answer.
  case tooLarge
  /// More than the most datasets.
  case tooMany(Int)
  case notJSON
  /// JSON of another form than is known.
  case otherForm
  /// A Matter server that takes clients of this schema and newer only.
  case newerSchema(UInt64)
  /// What comes is no frame of a WebSocket.
  case noFrame
  /// The connection has ended within a frame.
  case cut
  case closed
  /// Another error, with its code.
  case refused(String)
  /// The agent stops.
  case stopped

  package var description: String {
    switch self {
    case .unreachable(let words): "it can't be reached (\(words)); it may be starting, or --url names another place"
    case .untrusted(let words):
      "\(words), so nothing is sent there; where that is Home Assistant's, name its user with --home-assistant-user"
    case .timeout: "it does not answer in time; it may be starting, or be busy"
    case .certificate(let words):
      "its certificate is not accepted (\(words)); give --url the name that the certificate has, or add the authority "
        + "that has signed it to this system's (update-ca-certificates)"
    case .noTLS(let words): "TLS does not begin (\(words)); is it http:// at this port?"
    case .status(let status): Self.words(status)
    case .noToken(let words): words
    case .wrongToken:
      "it does not accept the token; make a long-lived access token of an administrator in Home Assistant (profile, "
        + "Security), and put it into the token's file"
    case .notAdministrator:
      "the token is of a user who is no administrator, and only administrators see Thread credentials; make one as an "
        + "administrator"
    case .unknownCommand(let version?) where version < .oldest:
      "it is \(version), which is too old; Home Assistant \(HomeAssistantVersion.oldest) or newer is needed"
    case .unknownCommand:
      "it has no Thread store yet: it is starting, or its Thread integration is not set up; where this lasts, add "
        + "Thread in Home Assistant (Settings, Devices & services, Add integration)"
    case .tooLarge: "its answer has more than \(Frames.limit) bytes; delete Thread networks there that are no more"
    case .tooMany(let count):
      "it has \(count) Thread networks, and at most \(HomeAssistantClient.mostDatasets) are read; delete those there "
        + "that are no more"
    case .notJSON: "its answer is not JSON; does --url name Home Assistant?"
    case .otherForm: "its answer has a form that is not known; is there a newer threadkeeper?"
    case .newerSchema(let schema): "it needs clients of schema \(schema) or newer; is there a newer threadkeeper?"
    case .noFrame:
      "what it sends is no WebSocket message; does --url name Home Assistant, or a proxy that can't do WebSockets?"
    case .cut: "the connection was cut off within a message"
    case .closed: "it has closed the connection; it may be stopping or starting"
    case .refused(let code): "it refuses to answer (\(code)); its log says more"
    case .stopped: "the agent stops"
    }
  }

  /// Whether it can be that Home Assistant is only being restarted.
  var mayPass: Bool {
    switch self {
    case .unreachable, .timeout, .unknownCommand, .cut, .closed, .stopped: true
    case .status(let status): (502...504).contains(status)
    default: false
    }
  }

  private static func words(_ status: Int) -> String {
    switch status {
    case 0: "its answer is not HTTP; does --url name Home Assistant, and is it https:// at this port?"
    case 300..<400: "it redirects (\(status)); give --url the address that a browser ends at"
    case 400:
      "it refuses the connection (400); behind a proxy, that has to pass WebSockets, and be in trusted_proxies of Home "
        + "Assistant"
    case 403:
      "it refuses the connection (403); after wrong tokens, Home Assistant has banned this address (ip_bans.yaml)"
    case 502, 503, 504: "it answers \(status); Home Assistant is starting, or stopped"
    default: "it answers \(status); that is not Home Assistant, or a proxy that can't do WebSockets"
    }
  }

  init(_ outcome: libcurl_outcome, _ address: HomeAssistantAddress) {
    let words = String(cString: outcome.message)
    switch outcome.code {
    case CURLE_ABORTED_BY_CALLBACK: self = .stopped
    case CURLE_OPERATION_TIMEDOUT: self = .timeout
    case CURLE_COULDNT_RESOLVE_HOST: self = .unreachable("no address is found for \(address.address.host)")
    case CURLE_COULDNT_CONNECT where outcome.error != 0:
      self = .unreachable(String(cString: strerror(Int32(outcome.error))))
    case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR: self = .certificate(words)
    case CURLE_SSL_CONNECT_ERROR: self = .noTLS(words)
    default: self = .unreachable(words)
    }
  }
}

extension HomeAssistantTrouble {
  /// Who has taken a connection on this machine.
  ///
  /// - Throws: `untrusted`, `unreachable`.
  static func check(_ connection: OpaquePointer, _ port: UInt16, _ users: Set<UInt32>) throws(HomeAssistantTrouble) {
    do throws(HTTPFailure) {
      try PortListeners.check(String(cString: libcurl_peer(connection)), port: port, of: users)
    } catch {
      switch error {
      case .untrusted(let words): throw .untrusted(words)
      case .unreachable(let words), .unchecked(let words): throw .unreachable(words)
      case .timeout, .garbage, .stopped: throw .closed
      }
    }
  }
}

/// `2025.12` of `2025.12.5`.
package struct HomeAssistantVersion: Comparable, Sendable, CustomStringConvertible {
  /// 202512.
  let number: Int

  /// The first one with these commands.
  static let oldest = HomeAssistantVersion(number: 2023_03)

  package static func < (left: Self, right: Self) -> Bool { left.number < right.number }

  package var description: String { "\(number / 100).\(number % 100)" }
}

extension HomeAssistantVersion {
  init?(_ text: String) {
    let parts = text.split(separator: ".").prefix(2).compactMap { UInt16($0) }
    guard parts.count == 2, parts[1] < 100 else { return nil }
    self.init(number: Int(parts[0]) * 100 + Int(parts[1]))
  }
}

/// Where Home Assistant is: `http://HOST[:PORT]`, or with `https`, `ws` or `wss`.
package struct HomeAssistantAddress: Equatable, Sendable, CustomStringConvertible {
  /// From the first slash on.
  let path: String
  let address: HTTPAddress
  let isTLS: Bool

  /// Inside of an add-on. See Home Assistant's developer documentation, Add-on communication.
  package static let supervisor = HomeAssistantAddress("ws://supervisor/core/websocket")

  /// - Parameter text: without a port 80, or 443 with TLS. A path is that of the WebSocket itself, which ends with
  ///   `/websocket`; without one it is Home Assistant's.
  /// - Returns: nil for everything else: no login, query, or page.
  package init?(_ text: String) { self.init(text, port: 80, path: "/api/websocket", ending: "/websocket") }

  /// Of a Matter server: `ws://HOST[:PORT][/ws]` and its kin. Without a port 5580, or 443 with TLS.
  package init?(matterServer text: String) { self.init(text, port: 5580, path: "/ws", ending: "/ws") }

  private init?(_ text: String, port: UInt16, path standard: String, ending: String) {
    guard let scheme = text.firstRange(of: "://") else { return nil }
    switch text[..<scheme.lowerBound].lowercased() {
    case "http", "ws": isTLS = false
    case "https", "wss": isTLS = true
    default: return nil
    }
    let rest = text[scheme.upperBound...]
    let authority = rest.prefix { $0 != "/" }
    let path = rest[authority.endIndex...]
    guard path.isEmpty || path == "/" || Self.isPath(path, ending) else { return nil }
    self.path = path.count > 1 ? String(path) : standard
    guard let address = HTTPAddress("\(authority)", port: isTLS ? 443 : port) else { return nil }
    self.address = address
  }

  private static func isPath(_ path: Substring, _ ending: String) -> Bool {
    path.hasSuffix(ending) && path.utf8.allSatisfy { HTTPAddress.isPlain($0, besides: "/-._~") }
  }

  /// As the header `Host` has it: without the port that a browser does not name.
  var authority: String {
    let port = ":\(isTLS ? 443 : 80)"
    let whole = address.authority
    return whole.hasSuffix(port) ? String(whole.dropLast(port.count)) : whole
  }

  /// Whether token and credentials cross the network as plain text.
  package var isPlaintextElsewhere: Bool { !isTLS && !address.isLoopback }

  /// Without the path.
  package var description: String { (isTLS ? "https" : "http") + "://\(authority)" }
}
