// SPDX-License-Identifier: Apache-2.0

/// A request to a REST interface.
package struct HTTPRequest: Equatable, Sendable {
  package enum Method: String, Sendable {
    case get = "GET"
    case put = "PUT"
    case post = "POST"
    case delete = "DELETE"
  }

  package var method: Method
  /// From the first slash on; chosen here, never by a peer.
  package var path: String
  /// The kind of answer that is wanted, as a MIME type.
  package var accept: String
  package var contentType: String
  /// May hold a dataset with its key: it is never shown.
  package var body: [UInt8]

  package init(
    method: Method = .get, path: String, accept: String = "application/json",
    contentType: String = "application/json", body: [UInt8] = []
  ) {
    self.method = method
    self.path = path
    self.accept = accept
    self.contentType = contentType
    self.body = body
  }

  /// The bytes on the wire (RFC 9112). One request for each connection.
  func bytes(for address: HTTPAddress) -> [UInt8] {
    var head = "\(method.rawValue) \(path) HTTP/1.1\r\nHost: \(address.authority)\r\n"
    head += "Accept: \(accept)\r\nConnection: close\r\n"
    if method != .get {
      head += "Content-Type: \(contentType)\r\nContent-Length: \(body.count)\r\n"
    }
    return Array((head + "\r\n").utf8) + body
  }
}

extension HTTPRequest: CustomStringConvertible {
  /// Method and path, as in `PUT /node/state`.
  package var description: String { "\(method.rawValue) \(path)" }
}
