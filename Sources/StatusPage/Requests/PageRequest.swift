// SPDX-License-Identifier: Apache-2.0

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
    _ target: String, method: String = "GET", host: String? = "localhost",
    origin: String? = nil, authorization: String? = nil, cookie: String? = nil,
    contentType: String? = nil, body: [UInt8] = [], peer: String? = nil
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
