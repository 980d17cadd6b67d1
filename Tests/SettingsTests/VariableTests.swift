// SPDX-License-Identifier: Apache-2.0

import Settings
import Testing

struct VariableTests {
  @Test("Every key has a variable, and it wins over the file")
  func everyKey() throws {
    let directory = try ConfigurationDirectory()
    try directory.write("x", to: "f")
    try directory.write(
      "mqtt: {host: a, port: 1, username: a, client_id: a, base_topic: a, protocol: 5}\n"
        + "alerts: {hold: 1}\nlog: {level: info}\nteams: {a: [b]}\nhomes: {a: {base_topic: a}}",
      to: "threadkeeper.yaml")
    let result = directory.load([
      "THREADKEEPER_MQTT_HOST": "b", "THREADKEEPER_MQTT_PORT": "2",
      "THREADKEEPER_MQTT_USERNAME": "b", "THREADKEEPER_MQTT_PASSWORD": "b",
      "THREADKEEPER_MQTT_CLIENT_ID": "b", "THREADKEEPER_MQTT_BASE_TOPIC": "b/c",
      "THREADKEEPER_MQTT_PROTOCOL": "3.1.1", "THREADKEEPER_MQTT_TLS_CA_FILE": "f",
      "THREADKEEPER_MQTT_TLS_CERT_FILE": "f", "THREADKEEPER_MQTT_TLS_KEY_FILE": "f",
      "THREADKEEPER_STORE_PATH": "s", "THREADKEEPER_STORE_KEY_FILE": "k",
      "THREADKEEPER_STORE_PASSPHRASE": "p", "THREADKEEPER_ALERTS_HOLD": "2",
      "THREADKEEPER_PREFERRED_ON_MISMATCH": "adopt",
      "THREADKEEPER_PRESENCE_OFFLINE_AFTER": "2", "THREADKEEPER_LOG_LEVEL": "debug",
      "THREADKEEPER_LOG_FORMAT": "json", "THREADKEEPER_TEAMS": "{c: [d]}",
      "THREADKEEPER_HOMES": "{c: {base_topic: b/c}}",
    ])
    #expect(result.problems.map(\.description) == [])
    let settings = try #require(result.settings)
    #expect(settings.mqtt.host == .named("b"))
    #expect(settings.mqtt.port == 2)
    #expect(settings.mqtt.username == "b")
    #expect(settings.mqtt.password?.revealed == "b")
    #expect(settings.mqtt.clientID?.revealed == "b")
    #expect(settings.mqtt.baseTopic == "b/c")
    #expect(settings.mqtt.protocolVersion == .v311)
    let file = "\(directory.path)/f"
    #expect(settings.mqtt.tls == .init(caFile: file, certFile: file, keyFile: file))
    #expect(settings.store.path == "\(directory.path)/s")
    #expect(settings.store.keyFile == "\(directory.path)/k")
    #expect(settings.store.passphrase?.revealed == "p")
    #expect(settings.alerts.holdSeconds == 2)
    #expect(settings.preferred.onMismatch == .adopt)
    #expect(settings.presence.offlineAfterSeconds == 2)
    #expect(settings.log.level == .debug && settings.log.format == .json)
    #expect(settings.teams == ["c": ["d"]])
    #expect(settings.homes == [.init(name: "c", baseTopic: "b/c")])
  }

  @Test("A problem in a variable is named by the variable")
  func named() throws {
    #expect(
      try problems("", ["THREADKEEPER_MQTT_PORT": "abc", "THREADKEEPER_MQTT_TLS_KEY_FILE": "/x"])
        .map { String($0.prefix(70)) } == [
          "THREADKEEPER_MQTT_PORT: error: mqtt.port: expected a whole number from",
          "THREADKEEPER_MQTT_TLS_KEY_FILE: error: mqtt.tls.key_file: `/x` cannot ",
          "THREADKEEPER_MQTT_TLS_KEY_FILE: warning: mqtt.tls.key_file: has no eff",
          "THREADKEEPER_MQTT_TLS_KEY_FILE: error: mqtt.tls.key_file: needs `mqtt.",
          "THREADKEEPER_MQTT_TLS_KEY_FILE: error: mqtt.tls.key_file: needs `mqtt.",
        ])
    for (variable, value) in [("TEAMS", "{a: b}"), ("TEAMS", "{a: ["), ("HOMES", "x")] {
      let name = "THREADKEEPER_\(variable)"
      let found = try problems("", [name: value])
      #expect(found.count == 1)
      #expect(
        found.first?.hasPrefix("\(name): error: \(variable.lowercased())") == true, "\(found)")
    }
  }

  @Test("Unknown variables are reported with the nearest name; others' are left alone")
  func unknown() throws {
    #expect(
      try problems("", ["THREADKEEPER_STORE_PAHT": "x", "THREADKEEPER_ZZZZZZ": "x"]) == [
        "THREADKEEPER_STORE_PAHT: error: unknown variable; did you mean `THREADKEEPER_STORE_PATH`?",
        "THREADKEEPER_ZZZZZZ: error: unknown variable",
      ])
    #expect(
      try problems(
        "",
        [
          "THREADKEEPER_CONFIG": "x", "THREADKEEPER_SERVICE_HOST": "10.0.0.1",
          "THREADKEEPER_KEYCHAIN_DIRECTORY": "/x", "THREADKEEPER_KEYCHAIN_GROUPS": "a",
          "THREADKEEPER_PORT_1883_TCP_ADDR": "10.0.0.1", "THREADKEEPER_PORT": "tcp://10.0.0.1:1",
          "OTHER_MQTT_PORT": "x", "THREADKEEPER_MQTT_PORT": "", "THREADKEEPER_UNKNOWN": "",
        ]) == [])
    #expect(try problems("", ["THREADKEEPER_PORT": "1883"]).count == 1)
    let directory = try ConfigurationDirectory()
    let result = SettingsLoader.load(
      file: nil, environment: ["THREADKEEPER_BENCH": "1"], otherVariables: ["THREADKEEPER_BENCH"],
      systemFile: "/dev/null/none", workingDirectory: directory.path, isRoot: true)
    #expect(result.problems.isEmpty)
  }

  @Test("A variable with _FILE takes the value from the file, without one line end")
  func file() throws {
    let directory = try ConfigurationDirectory()
    try directory.write("mqtt: {host: b, username: a, password: c}", to: "threadkeeper.yaml")
    for (content, value) in [
      ("pw", "pw"), ("pw\n", "pw"), ("pw\r\n", "pw"), ("pw\n\n", "pw\n"), (" pw \n", " pw "),
      ("pw\r", "pw\r"),
    ] {
      try directory.write(content, to: "secret")
      let settings = directory.load(["THREADKEEPER_MQTT_PASSWORD_FILE": "secret"]).settings
      #expect(settings?.mqtt.password?.revealed == value)
    }
    try directory.write("2222\n", to: "port")
    let port = directory.load(["THREADKEEPER_MQTT_PORT_FILE": directory.path + "/port"])
    #expect(port.settings?.mqtt.port == 2222)
    try directory.write("/srv/key\n", to: "path")
    let key = directory.load(["THREADKEEPER_STORE_KEY_FILE_FILE": "path"])
    #expect(key.settings?.store.keyFile == "/srv/key")
    try directory.write("{a: [b]}", to: "teams")
    #expect(directory.load(["THREADKEEPER_TEAMS_FILE": "teams"]).settings?.teams == ["a": ["b"]])
  }

  @Test("A variable and its _FILE together are refused; so is a file that is not there or empty")
  func fileProblems() throws {
    let directory = try ConfigurationDirectory()
    try directory.write("mqtt: {host: b, username: a}", to: "threadkeeper.yaml")
    try directory.write("", to: "empty")
    let name = "THREADKEEPER_MQTT_PASSWORD_FILE"
    func message(_ variables: [String: String]) -> String? {
      let result = directory.load(variables)
      #expect(result.settings == nil)
      #expect(result.problems.count == 1)
      return result.problems.first?.description
    }
    let prefix = "\(name): error: mqtt.password: "
    #expect(
      message([name: "empty", "THREADKEEPER_MQTT_PASSWORD": "x"])
        == prefix + "THREADKEEPER_MQTT_PASSWORD is set too; set one of the two")
    #expect(message([name: "empty"]) == prefix + "`\(directory.path)/empty` is empty")
    #expect(
      message([name: "none"])
        == prefix + "`\(directory.path)/none` cannot be read: No such file or directory")
  }
}
