import CLibCurl
import Glibc
import ThreadkeeperSupport

/// One request by libcurl, on the caller's thread: over a connection of its own, or over that of an earlier one.
///
/// ```
/// look-up ─▶ mayConnect, for each address ─▶ connection ─▶ maySend ─▶ request ─▶ takeHead, takeBody
/// ```
package final class HTTPTransfer {
  private let address: HTTPAddress
  /// Whose programs may listen there, where that is on this machine.
  private let users: Set<UInt32>
  /// The address that was tried last; nil: none was, over the connection of an earlier request.
  private var peer: IPAddress?
  private var isConnected = false
  private var headCount = 0
  /// libcurl takes what ends before its empty line for an answer without a body.
  private var isHeadComplete = false
  private var body: [UInt8] = []
  /// Why one of the functions below has refused.
  private var failure: HTTPFailure?

  init(_ address: HTTPAddress, of users: Set<UInt32>) {
    self.address = address
    self.users = users
  }

  /// Why libcurl can't be used; nil when it is loaded.
  package static var obstacle: String? {
    libcurl_load().map { "\(String(cString: $0)). This agent needs libcurl 7.80 or newer. Run `apt install libcurl4`." }
  }

  /// - Parameters:
  ///   - timeout: from the look-up's beginning to the last byte of the answer.
  ///   - signal: raised when the agent stops; nil: the request is finished in any case.
  ///   - connection: that of earlier requests to this address; nil: one of its own.
  func perform(
    _ request: HTTPRequest, within timeout: Duration, until signal: WakeSignal?, over connection: HTTPConnection? = nil
  ) throws(HTTPFailure) -> HTTPAnswer {
    if let obstacle = Self.obstacle { throw .unreachable(obstacle) }
    if let signal, signal.isRaised { throw .stopped }
    let handler = libcurl_handler(
      context: Unmanaged.passUnretained(self).toOpaque(),
      may_connect: { HTTPTransfer.of($0).mayConnect(to: String(cString: $1)) },
      may_send: { HTTPTransfer.of($0).maySend(to: String(cString: $1)) },
      take_head: { HTTPTransfer.of($0).takeHead(UnsafeRawBufferPointer(start: $1, count: $2)) },
      take_body: { HTTPTransfer.of($0).takeBody(UnsafeRawBufferPointer(start: $1, count: $2)) })
    let outcome = withExtendedLifetime((self, connection)) {
      libcurl_perform(
        request.method.rawValue, "\(address)\(request.path)", "Accept: \(request.accept)",
        "Content-Type: \(request.contentType)", request.body, request.body.count, Int(timeout.pollMilliseconds),
        signal?.descriptor ?? -1, handler, connection?.kept)
    }
    // What an earlier address was refused for is no reason any more.
    if outcome.code == CURLE_ABORTED_BY_CALLBACK, signal?.isRaised == true { throw .stopped }
    guard outcome.code == CURLE_OK else { throw failure(outcome) }
    guard isHeadComplete else { throw .garbage("the answer is cut off in its head") }
    guard (200..<600).contains(outcome.status) else { throw .garbage("the answer is not HTTP") }
    return HTTPAnswer(status: outcome.status, body: body)
  }

  private func failure(_ outcome: libcurl_outcome) -> HTTPFailure {
    if outcome.code == CURLE_OPERATION_TIMEDOUT {
      guard !isConnected else { return .timeout }
      guard let peer else { return .unreachable("looking up \(address.host) takes too long") }
      return Self.unaccepted(onLoopback: peer.isLoopback)
    }
    if let failure { return failure }
    switch outcome.code {
    case CURLE_ABORTED_BY_CALLBACK: return .stopped
    case CURLE_COULDNT_RESOLVE_HOST: return .unreachable("no address is found for \(address.host)")
    case CURLE_COULDNT_CONNECT where outcome.error != 0:
      return .unreachable(String(cString: strerror(Int32(outcome.error))))
    case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY: return .garbage("the answer is not HTTP")
    case CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE: return .garbage("the answer is cut off")
    default:
      let message = String(cString: outcome.message)
      return isConnected ? .garbage(message) : .unreachable(message)
    }
  }

  /// What it means that a connection was neither accepted nor refused in time. On this machine nothing gets lost on the
  /// way: there the system has taken the connections of a program that does not answer, until it had no place for more.
  static func unaccepted(onLoopback: Bool) -> HTTPFailure {
    onLoopback ? .timeout : .unreachable("no answer to the connection")
  }

  // MARK: While it lasts

  private static func of(_ context: UnsafeMutableRawPointer?) -> HTTPTransfer {
    Unmanaged.fromOpaque(context.unsafelyUnwrapped).takeUnretainedValue()
  }

  /// The next address may be the router's: `localhost` is both ::1 and 127.0.0.1.
  private func mayConnect(to address: String) -> Bool {
    check { () throws(HTTPFailure) in
      peer = IPAddress(address)
      _ = try PortListeners.areThere(at: address, port: self.address.port, of: users)
    }
  }

  /// The check that counts: whoever listens now has taken the connection.
  private func maySend(to address: String) -> Bool {
    isConnected = true
    // Who has taken the connection of an earlier request was checked then.
    guard peer != nil else { return true }
    return check { () throws(HTTPFailure) in
      try PortListeners.check(address, port: self.address.port, of: users)
      failure = nil
    }
  }

  private func check(_ body: () throws(HTTPFailure) -> Void) -> Bool {
    do throws(HTTPFailure) {
      try body()
      return true
    } catch {
      failure = error
      return false
    }
  }

  private func takeHead(_ line: UnsafeRawBufferPointer) -> Bool {
    headCount += line.count
    // An interim answer is followed by another head, a chunked body by a trailer.
    if line.starts(with: "HTTP/".utf8) { isHeadComplete = false }
    if line.first == 0x0A || line.elementsEqual("\r\n".utf8) { isHeadComplete = true }
    if headCount > HTTPAnswer.headLimit { failure = .garbage("the head is too long") }
    return headCount <= HTTPAnswer.headLimit
  }

  private func takeBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard body.count + bytes.count <= HTTPAnswer.bodyLimit else {
      failure = .garbage("the body is longer than \(HTTPAnswer.bodyLimit) bytes")
      return false
    }
    body += bytes
    return true
  }
}

/// A connection that requests of one thread use one after the other; another one is made where the server has ended it.
/// Only for requests that may be sent twice.
final class HTTPConnection {
  fileprivate let kept: OpaquePointer?

  init() { kept = HTTPTransfer.obstacle == nil ? libcurl_keep() : nil }

  deinit { if let kept { libcurl_release(kept) } }
}

/// A request to a REST interface.
package struct HTTPRequest: Equatable, Sendable, CustomStringConvertible {
  enum Method: String, Sendable {
    case get = "GET"
    case put = "PUT"
    case post = "POST"
  }

  var method = Method.get
  /// From the first slash on; chosen here, never by a peer.
  var path: String
  /// The kind of answer that is wanted, as a MIME type.
  var accept = "application/json"
  var contentType = "application/json"
  /// May hold a dataset with its key: it is never shown. A GET has none.
  var body: [UInt8] = []

  /// Method and path, as in `PUT /node/state`.
  package var description: String { "\(method.rawValue) \(path)" }
}

package struct HTTPAnswer: Equatable, Sendable, CustomStringConvertible {
  /// 200 to 599.
  var status: Int
  var body: [UInt8] = []

  /// Bytes; real answers have less than two thousand.
  static let bodyLimit = 64 << 10
  /// Bytes of the status line and all headers.
  static let headLimit = 16 << 10

  /// Without the body, which may be a dataset with its key.
  package var description: String { "status \(status), \(body.count) bytes" }
}

/// Why a request has no answer.
package enum HTTPFailure: Error, Equatable, Sendable {
  /// Nothing accepts the connection: refused, no way there, no answer in time, or no such host. With the system's
  /// words.
  case unreachable(String)
  /// The connection is accepted, and no whole answer comes in time. On loopback also when it is not refused.
  case timeout
  /// What came is no answer of HTTP/1.1, is cut off, or has more than the limits allow.
  case garbage(String)
  /// On this machine, and a program of another user than the router's listens there. Nothing was sent.
  case untrusted(String)
  /// On this machine, and the system does not show who listens there. Nothing was sent.
  case unchecked(String)
  /// The agent stops.
  case stopped
}

/// Where a REST interface is: `http://HOST[:PORT]`, without path, query or login.
package struct HTTPAddress: Hashable, Sendable {
  /// A name or an address; an IPv6 address without its brackets.
  let host: String
  let port: UInt16

  /// - Parameters:
  ///   - text: `http://127.0.0.1:8081`, `http://[::1]`, `hub.local:8081`.
  ///   - standard: the port where none is named; OpenThread Border Router's own.
  /// - Returns: nil for everything else, also for `https`: that REST interface speaks plain HTTP only.
  package init?(_ text: String, port standard: UInt16 = 8081) {
    var rest = text[...]
    if let scheme = rest.firstRange(of: "://") {
      guard rest[..<scheme.lowerBound].lowercased() == "http" else { return nil }
      rest = rest[scheme.upperBound...]
    }
    while rest.last == "/" { rest.removeLast() }
    let host: Substring
    if rest.first == "[" {
      guard let end = rest.firstIndex(of: "]") else { return nil }
      host = rest[rest.index(after: rest.startIndex)..<end]
      rest = rest[rest.index(after: end)...]
      guard host.allSatisfy({ $0.isHexDigit || $0 == ":" || $0 == "." }) else { return nil }
    } else {
      host = rest.prefix { $0 != ":" }
      rest = rest[host.endIndex...]
      guard host.utf8.allSatisfy({ Self.isPlain($0, besides: "-._") }) else { return nil }
    }
    guard !host.isEmpty, host.utf8.count <= 253 else { return nil }
    switch rest.first {
    case nil: port = standard
    case ":":
      guard rest.dropFirst().allSatisfy(\.isASCII), let port = UInt16(rest.dropFirst()), port > 0 else { return nil }
      self.port = port
    default: return nil
    }
    self.host = String(host)
  }

  /// Whether it is a letter or digit of ASCII, or one of these characters.
  static func isPlain(_ byte: UInt8, besides others: String) -> Bool {
    let character = Character(Unicode.Scalar(byte))
    return byte < 0x80 && (character.isLetter || character.isNumber || others.contains(character))
  }
}

extension HTTPAddress {
  /// Whether what is sent there stays on this machine: 127.0.0.0/8, ::1 or `localhost`, and no other name. Such a host
  /// is never looked up (RFC 6761, section 6.3).
  package var isLoopback: Bool { host.lowercased() == "localhost" || IPAddress(host)?.isLoopback == true }
}

extension HTTPAddress: CustomStringConvertible {
  /// The host with its port, as the header `Host` has it.
  var authority: String { "\(HostAndPort(host, port))" }

  package var description: String { "http://\(authority)" }
}

/// An address of a host.
struct IPAddress: Equatable {
  /// In the order of the network: 4, or 16. An IPv4 address that is mapped into IPv6 has 4. What is sent to 0.0.0.0 or
  /// :: goes to this machine, so they are the loopback address.
  let bytes: [UInt8]

  private static let mapped = [UInt8](repeating: 0, count: 10) + [255, 255]

  /// - Parameter text: `127.0.0.1`, `::1`, `fe80::1%eth0`.
  init?(_ text: String) {
    var ipv4 = in_addr()
    var ipv6 = in6_addr()
    let host = String(text.prefix { $0 != "%" })
    var bytes: [UInt8]
    if inet_pton(AF_INET, host, &ipv4) == 1 {
      bytes = withUnsafeBytes(of: &ipv4) { Array($0) }
    } else if inet_pton(AF_INET6, host, &ipv6) == 1 {
      bytes = withUnsafeBytes(of: &ipv6) { Array($0) }
      if bytes.starts(with: Self.mapped) { bytes.removeFirst(Self.mapped.count) }
    } else {
      return nil
    }
    if bytes.allSatisfy({ $0 == 0 }) {
      if bytes.count == 4 { bytes[0] = 127 }
      bytes[bytes.count - 1] = 1
    }
    self.bytes = bytes
  }

  /// 127.0.0.0/8 or ::1: what is sent there stays on this machine.
  var isLoopback: Bool { Loopback.contains(bytes) }
}
