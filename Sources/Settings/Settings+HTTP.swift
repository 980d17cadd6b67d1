// SPDX-License-Identifier: Apache-2.0

extension Settings {
  /// The HTTP server of the daemon: health, metrics and the status page.
  package struct HTTP: Sendable, Equatable {
    package var isEnabled = true
    /// An IP address of this machine; `0.0.0.0` or `::` for all.
    package var address = "127.0.0.1"
    package var port: UInt16 = 8423
    /// What a client of another address has to have: 16 to 256 characters that need no quoting in a URL.
    package var token: SecretText?
    /// Host names under which clients reach it, beside `localhost` and IP addresses.
    package var names: [String] = []
    /// IP address of a proxy that lets in only users that it knows, as Home Assistant's ingress does. What comes from it
    /// needs no token; everybody else needs one. Not loopback: every user of this machine could speak for it.
    package var trustedProxy: String?
    /// Whether what comes from it may also change something without the token.
    package var trustedProxyChanges = false

    /// Whether the token comes from its file beside the store.
    package var isTokenFromFile = false
    /// Whether there is, or may be, a file with a token that this user cannot read. Then nobody is let in without one.
    package var isTokenUnreadable = false

    package init() {}

    /// Where `threadkeeper page token` puts the token; read where the settings have none.
    package func tokenFile(besideStore store: String) -> String { "\(store).http-token" }
  }
}
