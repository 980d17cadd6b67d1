import Foundation
import Testing

@testable import Settings

/// `config/threadkeeper.yaml` and `docs/reference/settings.md`. Their heads are written by hand, the rest comes from
/// the table: `make settings` writes it.
@Suite("The settings file and the page about settings") struct SettingsPagesTests {
  private static let yaml = "config/threadkeeper.yaml"

  private func url(_ file: String) -> URL {
    URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../\(file)")
  }

  @Test(
    "Both say what the table says",
    arguments: [(yaml, "\n\n", yamlText), ("docs/reference/settings.md", "\n\n## ", markdown)]) func agree(
      file: String, endOfHead: String, make: @Sendable () -> String
    ) throws
  {
    let text = try String(contentsOf: url(file), encoding: .utf8)
    let end = try #require(text.firstRange(of: endOfHead)).lowerBound
    let made = text[..<end] + "\n\n" + make()
    if ProcessInfo.processInfo.environment["MAKE_SETTINGS"] == "1" {
      try made.write(to: url(file), atomically: true, encoding: .utf8)
    } else {
      #expect(text == made, "\(file) differs from SettingsTable.swift; run `make settings`")
    }
  }

  @Test("The settings file means what holds without a file") func defaults() throws {
    func load(_ file: String?) -> SettingsResult {
      SettingsLoader.load(
        file: file, environment: ["HOME": "/home/ada"], systemFile: "/dev/null/none", workingDirectory: "/",
        isRoot: false)
    }
    let (shipped, defaults) = (load(url(Self.yaml).path), load(nil))
    #expect(shipped.problems.map(\.description) == [])
    #expect(defaults.problems.map(\.description) == [])
    #expect(defaults.file == nil)
    #expect(try #require(shipped.settings) == #require(defaults.settings))
  }

  @Test("Every setting counts: another value than the default changes the settings") func everyOneCounts() throws {
    let others = [
      "mqtt.host": "broker", "mqtt.port": "1", "mqtt.username": "ada", "mqtt.password": "a", "mqtt.client_id": "a",
      "mqtt.base_topic": "other", "mqtt.protocol": "3.1.1", "mqtt.take_over": "00112233445566778899aabbccddeeff",
      "mqtt.tls.ca_file": "/proc/self/exe", "mqtt.broker_users": "[1883]", "store.path": "/srv/a",
      "store.key_file": "/srv/a", "store.passphrase": "a", "alerts.hold": "31", "preferred.on_mismatch": "adopt",
      "presence.offline_after": "0", "discovery.mdns": "off", "discovery.read": "off",
      "discovery.matter_controller": "here", "limits.events_per_second": "1", "limits.events_burst": "1",
      "limits.routers_per_team": "1", "limits.routers": "1", "clients.socket": "/run/a", "sharing.url": "http://a:1",
      "ssid.reporters": "[hall]", "consent.approvers": "[a]", "consent.approvers_trust": "broker",
      "home_assistant.discovery": "off", "home_assistant.prefix": "other", "home_assistant.consent": "all",
      "home_assistant.login": "ha", "home_assistant.trusted": "[ha]", "http.enabled": "false",
      "http.address": "127.0.0.2", "http.port": "8424", "http.token": "0123456789abcdef", "http.names": "[a]",
      "http.trusted_proxy": "192.0.2.1", "http.trusted_proxy_changes": "true", "log.level": "debug",
      "log.format": "json", "teams": "{a: [b]}", "client_users": "{root: a}", "homes": "{a: {base_topic: b}}",
      "store.url": "dbname=tk", "fleet.node": "n-1", "fleet.address": "n-1.example.org", "fleet.shards_at_most": "1",
      "fleet.connections": "1", "fleet.seal_command": "[seal]", "fleet.unseal_command": "[unseal, -k, '1']",
    ]
    // Those beside which alone a value has a meaning.
    let beside = [
      "mqtt.password": ["mqtt.username": "ada"],
      "store.url": ["mqtt.host": "broker", "fleet.unseal_command": "[unseal]"],
    ]
    let tls: Set = ["mqtt.tls.cert_file", "mqtt.tls.key_file"]
    #expect(Set(others.keys).union(tls) == Set(Setting.all.map(\.name)))
    for (name, value) in others {
      let base = Self.variables(beside[name] ?? [:])
      let defaults = try #require(try load("", base).settings)
      let result = try load("", base.merging(Self.variables([name: value])) { $1 })
      #expect(result.settings != nil, "\(name): \(result.problems)")
      #expect(result.settings != defaults, "\(name)")
    }
  }

  private static func variables(_ values: [String: String]) -> [String: String] {
    Dictionary(uniqueKeysWithValues: values.map { (Setting.named[$0.key]?.variable ?? "", $0.value) })
  }

  /// Each key after a comment, with its default.
  @Sendable private static func yamlText() -> String {
    var lines: [String] = []
    var open: [Substring] = []
    for section in Setting.sections {
      var comment = wrapped(linksAsPaths(section.help), 110)
      for setting in section.settings {
        let path = setting.name.split(separator: ".")
        let shared = zip(open, path.dropLast()).prefix { $0 == $1 }.count
        if !lines.isEmpty, shared == open.count { lines.append("") }
        if shared < open.count { lines.append("") }
        for depth in shared..<path.count - 1 {
          let indent = String(repeating: "  ", count: depth)
          lines += comment.map { "\(indent)# \($0)" } + ["\(indent)\(path[depth]):"]
          comment = []
        }
        open = path.dropLast()
        let indent = String(repeating: "  ", count: open.count)
        let values = setting.expected.prefix(1).uppercased() + setting.expected.dropFirst()
        lines +=
          (wrapped(linksAsPaths(setting.help), 110 - indent.count)
          + wrapped("\(values). Default: \(setting.standard).", 110 - indent.count)).map { "\(indent)# \($0)" }
        lines.append("\(indent)\(path[path.count - 1]): \(setting.yaml)")
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// A table for each section.
  @Sendable private static func markdown() -> String {
    Setting.sections.map { section in
      let rows = section.settings.map {
        "| `\($0.name)` | \($0.standard) | \($0.expected) | \(wrapped($0.help, .max)[0]) |"
      }
      return
        (["## \(section.title)", ""] + wrapped(section.help, 118) + (section.help.isEmpty ? [] : [""]) + [
          "| key | default | values | what |", "|---|---|---|---|",
        ] + rows).joined(separator: "\n") + "\n"
    }.joined(separator: "\n")
  }

  private static func linksAsPaths(_ text: String) -> String {
    text.replacing(#/\[([^\]]+)\]\(\.\.\/([^)#]+)[^)]*\)/#) { "\($0.1) (docs/\($0.2))" }
  }

  /// Code stays on one line: the manual is made of the settings file.
  private static func wrapped(_ text: String, _ width: Int) -> [String] {
    var lines: [String] = []
    for word in text.matches(of: #/(?:`[^`]*`|[^\s`])+/#).map(\.output) {
      if let last = lines.last, last.count + 1 + word.count <= width {
        lines[lines.count - 1] = "\(last) \(word)"
      } else {
        lines.append(String(word))
      }
    }
    return lines
  }
}
