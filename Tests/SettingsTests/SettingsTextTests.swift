import Foundation
import Settings
import Testing

struct SettingsTextTests {
  private func changed(_ text: String, _ changes: (String, SettingsText.Value)...) throws -> String {
    var settings = SettingsText(text)
    try settings.set(changes.map { ($0.0, $0.1) })
    return settings.text
  }

  @Test("A value is replaced, and comments, order and other keys stay") func replaced() throws {
    let text = """
      # Mine.
      mqtt:   # the broker
        # Where it is.
        host: embedded   # for now
        port: null
        username:
        client_id: 'a # b'
      log: {level: debug}

      """
    let expected = """
      # Mine.
      mqtt:   # the broker
        # Where it is.
        host: broker.local   # for now
        port: 8883
        username: threadkeeper
        client_id: other
      log: {level: debug}

      """
    #expect(
      try changed(
        text, ("mqtt.host", .text("broker.local")), ("mqtt.port", .word("8883")),
        ("mqtt.username", .text("threadkeeper")), ("mqtt.client_id", .text("other"))) == expected)
  }

  @Test("What is missing is added: a key to its section, a section at the end, all to nothing") func added() throws {
    #expect(
      try changed("mqtt:\n    # Here.\n    port: 1\nlog:\n", ("mqtt.host", .text("a")))
        == "mqtt:\n    host: a\n    # Here.\n    port: 1\nlog:\n")
    #expect(
      try changed("log:\n  level: info", ("mqtt.tls.ca_file", .text("/etc/ca.pem")))
        == "log:\n  level: info\nmqtt:\n  tls:\n    ca_file: /etc/ca.pem\n")
    #expect(
      try changed("", ("mqtt.host", .text("::1")), ("http.enabled", .word("false")))
        == "mqtt:\n  host: '::1'\nhttp:\n  enabled: false\n")
    for nothing in ["", " null", " {}", " ~ # later"] {
      let text = try changed("mqtt:\(nothing)\nlog:\n", ("mqtt.tls.ca_file", .text("/a")))
      #expect(text.hasPrefix("mqtt:"))
      #expect(text.hasSuffix("\n  tls:\n    ca_file: /a\nlog:\n"), "\(text)")
    }
  }

  @Test("What is added comes in the order that it is given in") func order() throws {
    #expect(
      try changed(
        "log:\n", ("mqtt.host", .text("a")), ("mqtt.port", .word("1")), ("mqtt.tls.ca_file", .text("/a")),
        ("http.enabled", .word("false")))
        == "log:\nmqtt:\n  host: a\n  port: 1\n  tls:\n    ca_file: /a\nhttp:\n  enabled: false\n")
  }

  @Test("A list stands on one line, and replaces one that does") func list() throws {
    let names = ("http.names", SettingsText.Value.list(["pi.local", "on"]))
    for (before, after) in [
      ("", "http:\n  names: [pi.local, 'on']\n"), ("http:\n  names: []\n", "http:\n  names: [pi.local, 'on']\n"),
      ("http:\n  names: [a, b] # x\n", "http:\n  names: [pi.local, 'on'] # x\n"),
    ] { #expect(try changed(before, names) == after) }
    for other in ["http:\n  names: [a,\n    b]\n", "http:\n  names: ['a]']\n", "http:\n  names:\n    - a\n"] {
      #expect(throws: SettingsText.UnknownForm.self, "\(other)") { try changed(other, names) }
    }
  }

  @Test("Text is quoted where YAML would take it for something else") func quoted() throws {
    for (text, expected) in [
      ("on", "'on'"), ("1883", "'1883'"), ("it's", "'it''s'"), ("a b", "'a b'"), ("", "''"), ("127.0.0.1", "127.0.0.1"),
      ("1e5", "'1e5'"), ("-x", "'-x'"), ("#x", "'#x'"),
    ] { #expect(try changed("", ("mqtt.username", .text(text))) == "mqtt:\n  username: \(expected)\n") }
  }

  @Test(
    "Another form than one key a line is refused, not guessed",
    arguments: [
      "mqtt: {host: a}\n", "mqtt:\n  host:\n    a\n", "mqtt:\n  host: |\n    a\n", "mqtt:\n  host: 'a\n    b'\n",
      "mqtt: a\n",
    ]) func refused(text: String)
  { #expect(throws: SettingsText.UnknownForm.self) { try changed(text, ("mqtt.host", .text("b"))) } }

  @Test("A text that is not YAML is no settings") func notYAML() {
    #expect(throws: YAMLFailure.self) { try changed("mqtt: [\n", ("mqtt.host", .text("b"))) }
  }

  @Test("The shipped configuration keeps all its comments") func shipped() throws {
    let path = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../config/threadkeeper.yaml")
    let before = try String(contentsOf: path, encoding: .utf8)
    let after = try changed(
      before, ("mqtt.host", .text("broker.local")), ("mqtt.port", .word("8883")),
      ("mqtt.tls.ca_file", .text("/etc/ssl/certs/ca-certificates.crt")), ("mqtt.username", .text("threadkeeper")),
      ("home_assistant.discovery", .word("off")), ("http.enabled", .word("false")))
    func comments(_ text: String) -> [Substring] { text.split(separator: "\n").filter { $0.contains("#") } }
    #expect(comments(before) == comments(after))
    func load(_ text: String) -> SettingsResult {
      SettingsLoader.load(text: text, as: "/x/threadkeeper.yaml", environment: [:], stateDirectory: "/x")
    }
    let (old, new) = (load(before), load(after))
    var expected = try #require(old.settings)
    expected.mqtt.host = .named("broker.local")
    expected.mqtt.port = 8883
    expected.mqtt.tls = .init(caFile: "/etc/ssl/certs/ca-certificates.crt")
    expected.mqtt.username = "threadkeeper"
    expected.homeAssistant.discovery = .off
    expected.http.isEnabled = false
    #expect(try #require(new.settings) == expected)
  }
}
