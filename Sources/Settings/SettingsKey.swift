// SPDX-License-Identifier: Apache-2.0

/// Every key with one value, by its full name. Lists, and what maps names that a person
/// chooses, are not among them.
enum SettingsKey: String, CaseIterable {
  case mqttHost = "mqtt.host"
  case mqttPort = "mqtt.port"
  case mqttUsername = "mqtt.username"
  case mqttPassword = "mqtt.password"
  case mqttClientID = "mqtt.client_id"
  case mqttBaseTopic = "mqtt.base_topic"
  case mqttProtocol = "mqtt.protocol"
  case mqttCAFile = "mqtt.tls.ca_file"
  case mqttCertFile = "mqtt.tls.cert_file"
  case mqttKeyFile = "mqtt.tls.key_file"
  case storePath = "store.path"
  case storeKeyFile = "store.key_file"
  case storePassphrase = "store.passphrase"
  case alertsHold = "alerts.hold"
  case preferredOnMismatch = "preferred.on_mismatch"
  case presenceOfflineAfter = "presence.offline_after"
  case discoveryMDNS = "discovery.mdns"
  case limitsEventsPerSecond = "limits.events_per_second"
  case limitsEventsBurst = "limits.events_burst"
  case limitsRoutersPerTeam = "limits.routers_per_team"
  case clientsSocket = "clients.socket"
  case homeAssistantDiscovery = "home_assistant.discovery"
  case homeAssistantPrefix = "home_assistant.prefix"
  case homeAssistantConsent = "home_assistant.consent"
  case homeAssistantLogin = "home_assistant.login"
  case consentApproversTrust = "consent.approvers_trust"
  case httpEnabled = "http.enabled"
  case httpAddress = "http.address"
  case httpPort = "http.port"
  case httpToken = "http.token"
  case httpTrustedProxy = "http.trusted_proxy"
  case httpTrustedProxyChanges = "http.trusted_proxy_changes"
  case logLevel = "log.level"
  case logFormat = "log.format"

  /// Mappings whose keys a person chooses, and lists.
  static let mappings = [
    "teams", "client_users", "homes", "consent.approvers", "http.names",
  ]

  /// `THREADKEEPER_MQTT_TLS_CA_FILE` for `mqtt.tls.ca_file`.
  var variable: String { Self.variable(of: rawValue) }

  static func variable(of name: String) -> String {
    "THREADKEEPER_" + name.uppercased().split(separator: ".").joined(separator: "_")
  }

  /// Whether its value must not be shown.
  var isSecret: Bool { self == .mqttPassword || self == .storePassphrase || self == .httpToken }

  /// The words after "expected" when a value does not fit.
  var expectation: String {
    switch self {
    case .mqttHost: "`embedded`, a host name or an IP address"
    case .mqttPort, .httpPort: "a whole number from 1 to 65535"
    case .mqttUsername: "1 to 256 characters, no control character, none of `/`, `+`, `#`"
    case .mqttPassword: "1 to 65535 bytes of text"
    case .storePassphrase: "1 to 4096 bytes of text"
    case .mqttClientID: "1 to 64 letters, digits, `-`, `_` or `.`"
    case .mqttBaseTopic:
      "a topic such as `threadkeeper` or `home/thread` (no `+`, `#`, `$`, `%` or control character, "
        + "no empty level, at most 128 bytes)"
    case .mqttProtocol: "`5` or `3.1.1`"
    case .mqttCAFile, .mqttCertFile, .mqttKeyFile, .storeKeyFile: "the path of a file"
    case .storePath: "the path of a directory"
    case .clientsSocket: "the path of a socket"
    case .alertsHold: "whole seconds from 0 to 86400"
    case .preferredOnMismatch: "`alert` or `adopt`"
    case .discoveryMDNS: "`auto` or `off`"
    case .presenceOfflineAfter: "whole seconds from 0 to 604800"
    case .limitsEventsPerSecond: "a whole number from 1 to 10000"
    case .limitsEventsBurst: "a whole number from 1 to 1000000"
    case .limitsRoutersPerTeam: "a whole number from 1 to 100000"
    case .homeAssistantDiscovery: "`on` or `off`"
    case .homeAssistantPrefix:
      "a topic such as `homeassistant` (no `+`, `#`, `$`, `%` or control character, no empty level, "
        + "at most 128 bytes)"
    case .homeAssistantConsent: "`off`, `adoptions` or `all`"
    case .homeAssistantLogin:
      "a user name of the broker (no `/`, `+`, `#`, `:` or control character)"
    case .consentApproversTrust: "`signed` or `broker`"
    case .httpEnabled, .httpTrustedProxyChanges: "`true` or `false`"
    case .httpAddress: "an IP address of this machine"
    case .httpTrustedProxy: "the IP address of another machine"
    case .httpToken: "16 to 256 letters, digits, `-`, `_`, `.` or `~`"
    case .logLevel: "`trace`, `debug`, `info`, `notice`, `warning`, `error` or `critical`"
    case .logFormat: "`text` or `json`"
    }
  }

  /// The names directly below a section; `""` is the file itself. Nil when there is none.
  static func names(in section: String) -> [String]? {
    let prefix = section.isEmpty ? "" : section + "."
    let all = allCases.map(\.rawValue) + mappings
    var names: [String] = []
    for name in all where name.hasPrefix(prefix) {
      guard let first = name.dropFirst(prefix.count).split(separator: ".").first else { continue }
      if !names.contains(String(first)) { names.append(String(first)) }
    }
    return names.isEmpty ? nil : names
  }
}
