// SPDX-License-Identifier: Apache-2.0

/// Where the server listens, and for whom.
package struct PageConfiguration: Sendable {
  /// An IP address of this machine.
  package var address: String
  /// TCP port; 0: one that is free.
  package var port: Int
  /// Host names under which clients reach it, beside `localhost` and IP addresses.
  package var names: [String]
  /// What a client has to show, in ASCII. Nil: whoever reaches it may look, and nobody may change anything.
  package var token: String?
  /// IP address of a proxy that lets in only users that it knows. Whoever comes from there may look, and everybody else
  /// needs the token.
  package var trustedProxy: String?
  /// Whether whoever comes from there may also change something.
  package var trustedProxyChanges: Bool
  package var limits = PageLimits()

  package init(
    address: String, port: Int, names: [String] = [], token: String? = nil,
    trustedProxy: String? = nil, trustedProxyChanges: Bool = false
  ) {
    self.address = address
    self.port = port
    self.names = names
    self.token = token
    self.trustedProxy = trustedProxy
    self.trustedProxyChanges = trustedProxyChanges
  }
}
