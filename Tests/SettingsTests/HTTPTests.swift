import Foundation
import Settings
import Testing

@Suite("The settings of the page and of metrics") struct HTTPTests {
  static let token = "0123456789abcdef"

  private func http(_ text: String = "", _ variables: [String: String] = [:]) throws -> Settings.HTTP {
    try settings("http: {\(text)}", variables).http
  }

  @Test("Without a word in the settings nothing answers HTTP") func defaults() throws {
    let http = try http()
    #expect(http.isEnabled && http.address == "127.0.0.1" && http.port == 8423)
    #expect(http.token == nil && http.names.isEmpty)
  }

  @Test("What is set arrives") func arrives() throws {
    let http = try http("enabled: false, address: '::', port: 80, token: \(Self.token), names: [a.example, b]")
    #expect(!http.isEnabled && http.address == "::" && http.port == 80)
    #expect(http.token?.revealed == Self.token && http.names == ["a.example", "b"])
  }

  @Test("Only true and false say whether it is enabled") func truth() throws {
    for value in ["yes", "1", "'true'", "True", "on"] {
      #expect(
        try problem("http:\n  enabled: \(value)").hasPrefix(
          "2:12: error: http.enabled: expected `true` or `false`, found "))
    }
  }

  @Test(
    "An address that other machines reach needs a token",
    arguments: ["0.0.0.0", "\"::\"", "192.168.1.2", "\"fe80::1\"", "\"::ffff:192.168.1.2\"", "128.0.0.1"]) func token(
      address: String
    ) throws
  {
    #expect(
      try problem("http:\n  address: \(address)").hasPrefix(
        "2:12: error: http.address: needs a token, because other machines reach "))
    #expect(try problems("http: {address: \(address), token: \(Self.token)}") == [])
  }

  @Test("Loopback needs none", arguments: ["127.0.0.1", "127.9.9.9", "\"::1\"", "\"::ffff:127.0.0.1\""]) func loopback(
    address: String
  ) throws { #expect(try problems("http: {address: \(address)}") == []) }

  @Test("What is no address is refused", arguments: ["localhost", "1.2.3", "\"[::1]\"", "''", "true"]) func addresses(
    address: String
  ) throws {
    #expect(
      try problem("http:\n  address: \(address)").hasPrefix(
        "2:12: error: http.address: expected an IP address of this machine, found "))
  }

  @Test(
    "A proxy on another machine is as good as a token", arguments: ["172.30.32.2", "2001:db8::2", "fd00::ffff:1.2.3.4"])
  func proxy(address: String) throws {
    let text = "address: 0.0.0.0, trusted_proxy: '\(address)'"
    #expect(try problems("http: {\(text)}") == [])
    #expect(try http(text).trustedProxy.map { "\($0)" } == address)
  }

  @Test("Through a proxy nothing is changed, until a setting says more") func proxyChanges() throws {
    let proxy = "trusted_proxy: 172.30.32.2"
    #expect(try !http(proxy).trustedProxyChanges)
    #expect(try http(proxy + ", trusted_proxy_changes: true").trustedProxyChanges)
    #expect(
      try problem("http:\n  trusted_proxy_changes: yes").hasPrefix(
        "2:26: error: http.trusted_proxy_changes: expected `true` or `false`, found "))
  }

  @Test(
    "No proxy is on loopback, everywhere, or without an address",
    arguments: [
      "127.0.0.1", "\"::1\"", "0.0.0.0", "\"::\"", "\"::ffff:127.0.0.1\"", "\"::ffff:1.2.3.4\"", "localhost",
      "\"fe80::1%eth0\"", "172.30.32.0/24", "''",
    ]) func noProxy(address: String) throws
  {
    #expect(
      try problem("http:\n  trusted_proxy: \(address)").hasPrefix(
        "2:18: error: http.trusted_proxy: expected the IP address of another machine, found "))
  }

  @Test("A token is long enough and needs no quoting, and a problem does not repeat it") func tokens() throws {
    for value in ["short", "'0123456789 abcdef'", "0123456789abcde;", "\"0123456789abcdéf\""] {
      #expect(
        try problem("http:\n  address: 0.0.0.0\n  token: \(value)")
          == "3:10: error: http.token: expected 16 to 256 letters, digits, `-`, `_`, `.` or `~`, "
          + "found a value that is not shown")
    }
    let longest = String(repeating: "a", count: 256)
    #expect(try problems("http: {token: \(longest)}") == [])
    _ = try problem("http: {token: \(longest)a}")
  }

  @Test("A token comes out of a secret's file") func secret() throws {
    let directory = try ConfigurationDirectory()
    try directory.write(Self.token + "\n", to: "http_token")
    try directory.write("http: {address: 0.0.0.0, token: !secret http_token}")
    let settings = try #require(directory.load().settings)
    #expect(settings.http.token?.revealed == Self.token)
    #expect(!"\(settings)".contains(Self.token))
  }

  @Test("Where the settings have no token, that of the file beside the store counts") func tokenFile() throws {
    let directory = try ConfigurationDirectory()
    try directory.write("store: {path: store}\nhttp: {address: 0.0.0.0}")
    #expect(directory.load().settings == nil)
    try directory.write(Self.token + "\n", to: "store.http-token")
    let http = try #require(directory.load().settings).http
    #expect(http.token?.revealed == Self.token && http.isTokenFromFile)
    let own = String(Self.token.reversed())
    let other = try #require(directory.load(["THREADKEEPER_HTTP_TOKEN": own]).settings).http
    #expect(other.token?.revealed == own && !other.isTokenFromFile)
    try directory.write("short\n", to: "store.http-token")
    #expect(directory.load().problems.map(\.key) == ["http.token"])
  }

  @Test("A token file that is there and cannot be read is noted, and one that is not there is not")
  func unreadableFile() throws {
    let directory = try ConfigurationDirectory()
    try directory.write("store: {path: store}")
    var isUnreadable: Bool { get throws { try #require(directory.load().settings).http.isTokenUnreadable } }
    #expect(try !isUnreadable)
    // A link to itself: also root cannot read it.
    let file = "\(directory.path)/store.http-token"
    try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: file)
    #expect(try isUnreadable)
    try FileManager.default.removeItem(atPath: file)
    try directory.write(Self.token + "\n", to: "store.http-token", mode: 0)
    #expect(try isUnreadable == (access(file, R_OK) != 0))
    let own = try #require(directory.load(["THREADKEEPER_HTTP_TOKEN": Self.token]).settings)
    #expect(!own.http.isTokenUnreadable, "it is not asked for")
  }

  @Test("Names are names of hosts without a port, in a list") func names() throws {
    for name in ["'a:80'", "'http://a'", "''", "[a]", "null"] {
      #expect(try problem("http:\n  names: [ok, \(name)]").hasPrefix("2:15: error: http.names: expected a host name"))
    }
    #expect(try problem("http: {names: a}") == "1:15: error: http.names: expected a list of host names, found text")
  }
}
