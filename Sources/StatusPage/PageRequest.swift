import Glibc
import ThreadkeeperSupport

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A request, as far as it is looked at.
package struct PageRequest: Sendable {
  /// `GET`, `POST`, …
  package var method: String
  /// Percent-encoded, without the query: `/metrics`.
  package var path: String
  /// What is after the `?`; empty where there is none.
  package var query: String
  /// Host and port as the client has them.
  package var host: String?
  package var origin: String?
  package var authorization: String?
  package var cookie: String?
  package var contentType: String?
  package var body: [UInt8]
  /// IP address of whoever is connected; nil where it is not known.
  package var peer: String?

  package init(
    _ target: String, method: String = "GET", host: String? = "localhost", origin: String? = nil,
    authorization: String? = nil, cookie: String? = nil, contentType: String? = nil, body: [UInt8] = [],
    peer: String? = nil
  ) {
    let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    self.method = method
    path = String(parts.first ?? "")
    query = parts.count > 1 ? String(parts[1]) : ""
    self.host = host
    self.origin = origin
    self.authorization = authorization
    self.cookie = cookie
    self.contentType = contentType
    self.body = body
    self.peer = peer
  }
}

/// An IP address in one form, however it is written. A server that listens on `::` sees IPv4 as `::ffff:192.0.2.1`
/// (RFC 4291, 2.5.5.2).
struct PeerAddress: Equatable, Sendable {
  private static let mapped: [UInt8] = Array(repeating: 0, count: 10) + [0xff, 0xff]

  /// 16 bytes, in network order.
  private let bytes: [UInt8]

  /// 127.0.0.0/8 and ::1.
  var isLoopback: Bool { Loopback.contains(bytes) }

  /// Nil where it is no address. One with a zone is none: it is no other machine's for sure.
  init?(_ text: String) {
    var four = in_addr()
    var six = in6_addr()
    if inet_pton(AF_INET, text, &four) == 1 {
      bytes = Self.mapped + withUnsafeBytes(of: four) { Array($0) }
    } else if inet_pton(AF_INET6, text, &six) == 1 {
      bytes = withUnsafeBytes(of: six) { Array($0) }
    } else {
      return nil
    }
  }
}

/// What a request is answered with.
package struct PageReply: Sendable {
  package enum Status: Int, Sendable {
    case ok = 200
    case seeOther = 303
    case badRequest = 400
    case unauthorized = 401
    case forbidden = 403
    case notFound = 404
    case notAllowed = 405
    case conflict = 409
    case lengthRequired = 411
    case tooLarge = 413
    case misdirected = 421
    case headersTooLarge = 431
    case failed = 500
    case unavailable = 503
  }

  package var status: Status
  /// Beside those that every reply has.
  package var headers: [(name: String, value: String)] = []
  package var body: [UInt8] = []
  /// Whoever follows events instead of a body.
  package var viewer: Viewer?

  package init(_ status: Status, type: String? = nil, _ body: [UInt8] = []) {
    self.status = status
    self.body = body
    if let type { headers.append(("Content-Type", type)) }
  }

  /// A line for a person.
  package static func text(_ status: Status, _ text: String) -> PageReply {
    PageReply(status, type: "text/plain; charset=utf-8", Array("\(text)\n".utf8))
  }

  /// A value of ours; where it has no JSON, that is our mistake.
  package static func json(_ status: Status, _ value: some Encodable) -> PageReply {
    let encoder = JSONEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(value) else { return .text(.failed, "an unexpected failure") }
    return PageReply(status, type: "application/json", Array(data) + [UInt8(ascii: "\n")])
  }
}

/// What every reply says to a browser: nothing is loaded, framed, guessed, kept or passed on.
enum SecurityHeaders {
  static let all: [(name: String, value: String)] = [
    ("Content-Security-Policy", "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"),
    ("X-Content-Type-Options", "nosniff"), ("X-Frame-Options", "DENY"), ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Opener-Policy", "same-origin"), ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Cache-Control", "no-store"),
  ]

  /// A reply may say something else under the same name.
  static func beside(_ own: [(name: String, value: String)]) -> [(name: String, value: String)] {
    own + all.filter { header in !own.contains { $0.name == header.name } }
  }
}
