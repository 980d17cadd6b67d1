// SPDX-License-Identifier: Apache-2.0

/// A request to a REST interface.
package struct HTTPRequest: Equatable, Sendable, CustomStringConvertible {
  package enum Method: String, Sendable {
    case get = "GET"
    case put = "PUT"
    case post = "POST"
  }

  package var method = Method.get
  /// From the first slash on; chosen here, never by a peer.
  package var path: String
  /// The kind of answer that is wanted, as a MIME type.
  package var accept = "application/json"
  package var contentType = "application/json"
  /// May hold a dataset with its key: it is never shown. A GET has none.
  package var body: [UInt8] = []

  /// Method and path, as in `PUT /node/state`.
  package var description: String { "\(method.rawValue) \(path)" }
}

package struct HTTPAnswer: Equatable, Sendable, CustomStringConvertible {
  /// 200 to 599.
  package var status: Int
  package var body: [UInt8]

  /// Bytes; real answers have less than two thousand.
  static let bodyLimit = 64 << 10
  /// Bytes of the status line and all headers.
  static let headLimit = 16 << 10

  package init(status: Int, body: [UInt8] = []) {
    self.status = status
    self.body = body
  }

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
