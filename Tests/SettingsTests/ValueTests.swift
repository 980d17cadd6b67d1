import Testing

/// Each key: what it takes, and what it refuses.
struct ValueTests {
  @Test(
    "Whole numbers: the ends of each range are inside, the next ones outside",
    arguments: [
      ("mqtt", "port", ["1", "65535"], ["0", "65536", "-1", "99999999999999999999"]),
      ("http", "port", ["1", "65535"], ["0", "65536"]), ("alerts", "hold", ["0", "86400"], ["-1", "86401"]),
      ("limits", "events_per_second", ["1", "10000"], ["0", "10001"]),
      ("limits", "events_burst", ["1", "1000000"], ["0", "1000001"]),
      ("limits", "routers_per_team", ["1", "100000"], ["0", "100001"]),
      ("limits", "routers", ["1", "1000000"], ["0", "1000001"]),
      ("presence", "offline_after", ["0", "604800"], ["-1", "604801"]),
    ]) func ranges(section: String, key: String, good: [String], bad: [String]) throws
  {
    for value in good {
      #expect(try problems("\(section): {\(key): \(value)}") == [])
      let variable = "THREADKEEPER_\(section.uppercased())_\(key.uppercased())"
      #expect(try problems("", [variable: value]) == [])
    }
    let wrongKinds = ["abc", "1.5", "1e1", "0x1F", "1_0", "010", "+1", "true", "\"10\"", "'10'", "10s", ".inf"]
    for value in bad + wrongKinds {
      #expect(
        try problem("\(section):\n  \(key): \(value)").hasPrefix(
          "2:\(5 + key.count): error: \(section).\(key): expected"))
    }
    #expect(try problem("\(section): {\(key): [1]}").hasSuffix("found a list"))
    #expect(try problem("\(section): {\(key): {a: 1}}").hasSuffix("found a mapping"))
    for nothing in ["", "null"] { #expect(try problems("\(section): {\(key): \(nothing)}") == []) }
  }

  @Test(
    "Words: each known one arrives, others are refused",
    arguments: [
      ("mqtt.protocol", ["5", "3.1.1", "\"5\""], ["3.1", "4", "v5", "5.0"]),
      ("home_assistant.discovery", ["on", "off"], ["auto", "yes", "1"]),
      ("preferred.on_mismatch", ["alert", "adopt"], ["adapt", "none", "true"]),
      (
        "log.level", ["trace", "debug", "info", "notice", "warning", "error", "critical"], ["warn", "INFO", "5", "on"]
      ), ("log.format", ["text", "json"], ["xml", "JSON"]),
      ("discovery.mdns", ["auto", "off", "\"off\""], ["on", "no", "true", "AUTO"]),
      ("discovery.read", ["auto", "off"], ["on", "mdns"]),
    ]) func words(name: String, good: [String], bad: [String]) throws
  {
    let parts = name.split(separator: ".")
    for value in good { #expect(try problems("\(parts[0]): {\(parts[1]): \(value)}") == []) }
    for value in bad + ["[a]", "{a: b}"] {
      #expect(try problem("\(parts[0]): {\(parts[1]): \(value)}").contains("error: \(name): "))
    }
  }

  @Test("Numbers and words arrive") func arrive() throws {
    let yaml = """
      mqtt: {port: 2, protocol: 3.1.1}
      alerts: {hold: 3}
      presence: {offline_after: 4}
      preferred: {on_mismatch: adopt}
      log: {level: trace, format: json}
      discovery: {mdns: off, read: off}
      """
    let settings = try settings(yaml)
    #expect((settings.mqtt.port, settings.mqtt.protocolVersion) == (2, .v311))
    #expect(settings.eachHome.alertsHold == 3 && settings.eachHome.offlineAfter == 4)
    #expect(settings.eachHome.onMismatch == .adopt)
    #expect((settings.log.level, settings.log.format) == (.trace, .json))
    #expect(settings.discovery == .off && settings.reading == .off)
  }

  @Test(
    "Hosts that a resolver takes",
    arguments: [
      "broker", "broker.local", "homeassistant.local.", "192.168.1.2", "core_mosquitto", "\"::1\"", "\"fe80::1%eth0\"",
      "xn--bcher-kva.example", "1.example",
    ]) func goodHosts(host: String) throws
  { #expect(try settings("mqtt: {host: \(host)}").mqtt.host == .named(host.replacing("\"", with: ""))) }

  @Test(
    "Hosts that none takes",
    arguments: [
      "\"\"", "a b", "a..b", "-a", "a-", "300.1.1.1", "1.2.3", "\"[::1]\"", "\"::g\"", "true", "bücher", "\"fe80::1%\"",
      "a/b", "[a]",
    ]) func badHosts(host: String) throws
  {
    #expect(
      try problem("mqtt:\n  host: \(host)").hasPrefix(
        "2:9: error: mqtt.host: expected `embedded`, a host name or an IP address, found "))
  }

  @Test("A host with a port says where the port goes; a URL is not repeated") func hostMistakes() throws {
    #expect(
      try problem("mqtt: {host: 'broker:1884'}").hasSuffix("found the text `broker:1884`; the port goes to `mqtt.port`")
    )
    for url in ["mqtt://ada:hunter2@broker:1883", "ada:hunter2@broker"] {
      let found = try problem("mqtt: {host: '\(url)'}")
      #expect(found.contains("found a URL") && !found.contains("hunter2"))
    }
  }

  @Test("Base topics: levels of plain text") func baseTopics() throws {
    for topic in ["a", "home/thread", "Küche", "a b", String(repeating: "x", count: 128)] {
      #expect(try settings("mqtt: {base_topic: \(topic)}").homes.map(\.base) == [topic])
    }
    let bad = [
      "''", "/a", "a/", "a//b", "/", "a/+", "'#'", "a/b#", "$SYS/a", "a/$b", "'a%u'", "\"a\\nb\"", "\"a\\0b\"",
      String(repeating: "x", count: 129),
    ]
    for topic in bad {
      #expect(try problem("mqtt: {base_topic: \(topic)}").hasPrefix("1:20: error: mqtt.base_topic: expected a topic"))
    }
  }

  @Test("Client ids: letters, digits, `-`, `_`, `.`") func clientIDs() throws {
    let longest = String(repeating: "x", count: 64)
    for id in ["a", "Keeper-1_b.c", "42", longest] {
      #expect(try settings("mqtt: {client_id: \(id)}").mqtt.clientID?.revealed == id)
    }
    for id in ["''", "a b", "a/b", "é", longest + "x", "true"] { _ = try problem("mqtt: {client_id: \(id)}") }
    #expect(
      try problem("mqtt: {client_id: hall!}")
        == "1:19: error: mqtt.client_id: expected 1 to 64 letters, digits, `-`, `_` or `.`, "
        + "found a value that is not shown")
  }

  @Test("User and password: text, no control characters in the name") func login() throws {
    let login = try settings("mqtt: {host: b, username: ada, password: 0123}").mqtt
    #expect((login.username, login.password?.revealed) == ("ada", "0123"))
    for name in ["''", "\"a\\tb\"", "'\(String(repeating: "x", count: 257))'"] {
      _ = try problem("mqtt: {host: b, username: \(name)}")
    }
    for sign in ["/", "+", "#"] {
      #expect(
        try problem("mqtt: {host: b, username: 'ada\(sign)b'}")
          == "1:27: error: mqtt.username: expected 1 to 256 characters, no control character, none of "
          + "`/`, `+`, `#`, found a `\(sign)`")
    }
    #expect(
      try problem("mqtt: {host: b, password: x}")
        == "1:27: error: mqtt.password: needs `mqtt.username`: a password alone is no login")
  }

  @Test("A login without a broker is said to be without effect") func unusedKeys() throws {
    let found = try problems("mqtt: {username: a, password: b}")
    #expect(found.count == 2)
    #expect(found.allSatisfy { $0.contains(#/warning: .*has no effect while `mqtt.host`/#) })
    #expect(try problems("mqtt: {host: a, username: a, password: b}") == [])
    // A broken host is not taken for the embedded one.
    _ = try problem("mqtt: {host: a b, username: a, password: b}")
  }
}
