import Foundation
import Settings
import Testing

@Suite("Secrets that lie in files of their own") struct SecretTests {
  let directory: ConfigurationDirectory
  static let secret = "hunter2-\u{1F511}"

  init() throws {
    directory = try ConfigurationDirectory()
    try directory.write(Self.secret + "\n", to: "mqtt_password")
  }

  private func load(_ value: String, _ variables: [String: String] = [:]) throws -> SettingsResult {
    try directory.write("mqtt:\n  host: b\n  username: a\n  password: \(value)\n")
    return directory.load(variables)
  }

  @Test("!secret reads the file beside the configuration") func secret() throws {
    let result = try load("!secret mqtt_password")
    #expect(result.problems.isEmpty)
    #expect(result.settings?.mqtt.password?.revealed == Self.secret)
  }

  @Test("!credential reads systemd's directory, and says so when there is none") func credential() throws {
    try directory.write("from systemd\n", to: "credentials/mqtt")
    let result = try load("!credential mqtt", ["CREDENTIALS_DIRECTORY": directory.path + "/credentials"])
    #expect(result.settings?.mqtt.password?.revealed == "from systemd")
    let without = try load("!credential mqtt")
    #expect(
      without.problems.map(\.description) == [
        "threadkeeper.yaml:4:13: error: mqtt.password: `!credential` needs $CREDENTIALS_DIRECTORY, "
          + "which systemd sets for a unit with LoadCredential="
      ])
  }

  @Test("Names lead nowhere else", arguments: ["../x", "a/b", "/etc/passwd", "..", ".", "''", "a..b", "\"a\\0b\""])
  func names(name: String) throws {
    for tag in ["!secret", "!credential"] {
      let result = try load("\(tag) \(name)", ["CREDENTIALS_DIRECTORY": directory.path])
      #expect(result.settings == nil)
      #expect(
        result.problems.map(\.description) == [
          "threadkeeper.yaml:4:13: error: mqtt.password: `\(tag)` expects the plain name of a file, "
            + "without `/` and `..`"
        ])
    }
  }

  @Test("A secret that is missing, empty, a directory or no text is named") func unreadable() throws {
    try directory.write("\n", to: "empty")
    try directory.write(Data([0xFF, 0xFE]), to: "bytes")
    try directory.write("x", to: "folder/x")
    for (name, reason) in [
      ("none", "cannot be read: No such file or directory"), ("empty", "is empty"), ("bytes", "is not UTF-8 text"),
      ("folder", "is not a file"),
    ] {
      let problems = try load("!secret \(name)").problems
      #expect(problems.map(\.message) == ["mqtt.password: `\(directory.path)/\(name)` \(reason)"])
      #expect(problems.first?.line == 4)
    }
  }

  @Test("A secret that everybody may read is a warning, not an error") func openSecret() throws {
    try directory.write(Self.secret, to: "mqtt_password", mode: 0o644)
    let result = try load("!secret mqtt_password")
    #expect(result.settings?.mqtt.password?.revealed == Self.secret)
    #expect(result.problems.map(\.severity) == [.warning])
    #expect(result.problems.first?.message.contains("may be read by every user") == true)
  }

  @Test("So is a password in a configuration that everybody may read") func openConfiguration() throws {
    let yaml = "mqtt:\n  host: b\n  username: a\n  password: \(Self.secret)\n"
    try directory.write(yaml, mode: 0o644)
    let result = directory.load()
    #expect(result.settings != nil)
    #expect(result.problems.map(\.severity) == [.warning])
    #expect(result.problems.first?.line == 4)
    try directory.write(yaml, mode: 0o640)
    #expect(directory.load().problems.isEmpty)
  }

  @Test("A secret that a variable overrides is not even read") func overridden() throws {
    let result = try load("!secret none", ["THREADKEEPER_MQTT_PASSWORD": "x"])
    #expect(result.problems.isEmpty)
    #expect(result.settings?.mqtt.password?.revealed == "x")
  }

  @Test("No problem ever shows a secret, wherever it was put by mistake") func neverShown() throws {
    let secret = "sesame4711"
    try directory.write(secret, to: "secret")
    try directory.write("a\n\(secret)\u{1}\n", to: "odd")
    let keys = [
      "mqtt.host", "mqtt.port", "mqtt.username", "mqtt.client_id", "mqtt.base_topic", "mqtt.protocol", "alerts.hold",
      "preferred.on_mismatch", "log.level", "log.format", "store.path", "mqtt.tls.ca_file",
    ]
    var all: [SettingsProblem] = []
    for key in keys {
      let parts = key.split(separator: ".")
      for name in ["secret", "odd"] {
        let yaml = "\(parts.joined(separator: ": {")): !secret \(name)"
        let closing = String(repeating: "}", count: parts.count - 1)
        try directory.write(yaml + closing)
        all += directory.load().problems
        try directory.write("")
        let variable = "THREADKEEPER_" + key.uppercased().replacing(".", with: "_") + "_FILE"
        all += directory.load([variable: name]).problems
      }
    }
    for yaml in [
      "mqtt: {password: [\(secret)]}", "mqtt: {passwort: \(secret)}", "mqtt: \(secret)", "mqtt:\n  password \(secret)",
      "\(secret)", "mqtt: {username: \"\(secret)\\t\"}", "mqtt: {host: 'mqtt://a:\(secret)@b'}",
      "mqtt: {password: !secrets \(secret)}", "mqtt:\n  password: \"\(secret)\n",
      "mqtt: {password: \(secret), password: \(secret)}", "mqtt:\n  password: \(secret)\n x: y\n",
      "mqtt: {password: *\(secret)}", "mqtt: {client_id: '\(secret)!'}", "mqtt: {tls: \(secret)}", "teams: \(secret)",
      "homes: {a: \(secret)}", "mqtt: {password: @\(secret)}", "mqtt: {password: `\(secret)}",
      "mqtt: {password: %\(secret)",
    ] {
      try directory.write(yaml, mode: 0o644)
      all += directory.load(["THREADKEEPER_MQTT_PASSWORD": "\(secret)"]).problems
      all += directory.load().problems
    }
    #expect(all.count > 50)
    for problem in all { #expect(!problem.description.contains(secret), "\(problem)") }
  }

  @Test("Secret text shows itself nowhere but where it is asked for") func secretText() throws {
    let text = SecretText("hunter2")
    var dumped = ""
    dump(text, to: &dumped)
    dump([text], to: &dumped)
    let settings = try #require(try load("!secret mqtt_password").settings)
    dump(settings, to: &dumped)
    dumped += "\(text) \(text.debugDescription) \(String(reflecting: text)) \([text]) \(settings)"
    dumped += String(describing: Optional(text)) + String(describing: Mirror(reflecting: text))
    #expect(!dumped.contains("hunter2"))
    #expect("\(text)" == "<secret>")
    #expect(text.revealed == "hunter2")
  }
}

@Suite("The files that TLS needs") struct TLSTests {
  let directory: ConfigurationDirectory

  init() throws {
    directory = try ConfigurationDirectory()
    for name in ["ca.pem", "cert.pem", "key.pem"] { try directory.write("x", to: name) }
  }

  private func result(_ tls: String) throws -> SettingsResult {
    try directory.write("mqtt: {host: b, tls: {\(tls)}}")
    return directory.load()
  }

  @Test("Paths are relative to the file, and TLS moves the port") func complete() throws {
    let tls = "ca_file: ca.pem, cert_file: ./cert.pem, key_file: key.pem"
    let encrypted = try #require(try result(tls).settings).mqtt
    let path = directory.path
    #expect(
      encrypted.tls == .init(caFile: "\(path)/ca.pem", certificateFile: "\(path)/cert.pem", keyFile: "\(path)/key.pem"))
    let plain = try #require(try result("").settings).mqtt
    #expect(plain.tls == nil && (encrypted.port, plain.port) == (8883, 1883))
    // One that is given stays.
    try directory.write("mqtt: {host: b, port: 1883, tls: {ca_file: ca.pem}}")
    #expect(directory.load().settings?.mqtt.port == 1883)
  }

  @Test("Half a client certificate, or one without an authority, is refused") func halves() throws {
    let messages = [
      "ca_file: ca.pem, cert_file: cert.pem": "mqtt.tls.cert_file: needs `mqtt.tls.key_file`",
      "ca_file: ca.pem, key_file: key.pem": "mqtt.tls.key_file: needs `mqtt.tls.cert_file`",
      "cert_file: cert.pem, key_file: key.pem": "mqtt.tls.cert_file: needs `mqtt.tls.ca_file`",
    ]
    for (tls, message) in messages {
      let problems = try result(tls).problems
      #expect(problems.map(\.line) == [1])
      #expect(problems.first?.message.hasPrefix(message) == true)
    }
  }

  @Test("A file that is not there, or is a directory, is named") func missingFile() throws {
    #expect(
      try result("ca_file: nothing.pem").problems.map(\.message) == [
        "mqtt.tls.ca_file: `\(directory.path)/nothing.pem` cannot be read: No such file or directory"
      ])
    #expect(try result("ca_file: .").problems.first?.message.hasSuffix("is not a file") == true)
  }

  @Test("A private key that others may read is a warning") func openKey() throws {
    try directory.write("x", to: "key.pem", mode: 0o644)
    let result = try result("ca_file: ca.pem, cert_file: cert.pem, key_file: key.pem")
    #expect(result.settings != nil)
    #expect(result.problems.map(\.severity) == [.warning])
    #expect(result.problems.first?.key == "mqtt.tls.key_file")
  }

  @Test("`~/` is the home directory; nothing else with `~` is") func home() throws {
    try directory.write("mqtt: {host: b, tls: {ca_file: ~/ca.pem}}")
    let found = directory.load(["HOME": directory.path])
    #expect(found.settings?.mqtt.tls?.caFile == "\(directory.path)/ca.pem")
    #expect(directory.load().problems.count == 1)
    #expect(try result("ca_file: ~ada/ca.pem").problems.count == 1)
  }
}
