import Settings
import Testing

struct VariableTests {
  @Test("A variable wins over the file; its paths are relative to the working directory") func wins() throws {
    let directory = try ConfigurationDirectory()
    try directory.write("x", to: "f")
    try directory.write(
      "mqtt: {host: a, port: 1, username: a, client_id: a}\nlog: {level: info}\n"
        + "teams: {a: [b]}\nhomes: {a: {base_topic: a}}")
    let result = directory.load([
      "THREADKEEPER_MQTT_HOST": "b", "THREADKEEPER_MQTT_PORT": "2", "THREADKEEPER_MQTT_USERNAME": "b",
      "THREADKEEPER_MQTT_PASSWORD": "b", "THREADKEEPER_MQTT_CLIENT_ID": "b", "THREADKEEPER_MQTT_TLS_CA_FILE": "f",
      "THREADKEEPER_STORE_PATH": "s", "THREADKEEPER_STORE_PASSPHRASE": "p", "THREADKEEPER_LOG_LEVEL": "debug",
      "THREADKEEPER_TEAMS": "{c: [d]}", "THREADKEEPER_HOMES": "{c: {base_topic: b/c}}",
    ])
    #expect(result.problems.map(\.description) == [])
    let settings = try #require(result.settings)
    let (mqtt, store) = (settings.mqtt, settings.store)
    #expect((mqtt.host, mqtt.port, mqtt.username) == (.named("b"), 2, "b"))
    #expect((mqtt.password?.revealed, mqtt.clientID?.revealed) == ("b", "b"))
    #expect(mqtt.tls == .init(caFile: "\(directory.path)/f"))
    #expect((store.path, store.passphrase?.revealed) == ("\(directory.path)/s", "p"))
    #expect(settings.log.level == .debug && settings.teams == ["c": ["d"]])
    #expect(settings.homes == [.init(name: "c", base: "b/c")])
  }

  @Test("A problem in a variable is named by the variable") func named() throws {
    #expect(
      try problems("", ["THREADKEEPER_MQTT_PORT": "abc", "THREADKEEPER_MQTT_TLS_KEY_FILE": "/x"]).map {
        String($0.prefix(70))
      } == [
        "THREADKEEPER_MQTT_PORT: error: mqtt.port: expected a whole number from",
        "THREADKEEPER_MQTT_TLS_KEY_FILE: error: mqtt.tls.key_file: `/x` cannot ",
        "THREADKEEPER_MQTT_TLS_KEY_FILE: warning: mqtt.tls.key_file: has no eff",
        "THREADKEEPER_MQTT_TLS_KEY_FILE: error: mqtt.tls.key_file: needs `mqtt.",
        "THREADKEEPER_MQTT_TLS_KEY_FILE: error: mqtt.tls.key_file: needs `mqtt.",
      ])
    for (variable, value) in [("TEAMS", "{a: b}"), ("TEAMS", "{a: ["), ("HOMES", "x")] {
      let name = "THREADKEEPER_\(variable)"
      #expect(try problem("", [name: value]).hasPrefix("\(name): error: \(variable.lowercased())"))
    }
  }

  @Test("Unknown variables are reported with the nearest name; others' are left alone") func unknown() throws {
    #expect(
      try problems("", ["THREADKEEPER_STORE_PAHT": "x", "THREADKEEPER_ZZZZZZ": "x"]) == [
        "THREADKEEPER_STORE_PAHT: error: unknown variable; did you mean `THREADKEEPER_STORE_PATH`?",
        "THREADKEEPER_ZZZZZZ: error: unknown variable",
      ])
    #expect(
      try problems(
        "",
        [
          "THREADKEEPER_CONFIG": "x", "THREADKEEPER_SERVICE_HOST": "10.0.0.1", "THREADKEEPER_KEYCHAIN_DIRECTORY": "/x",
          "THREADKEEPER_KEYCHAIN_GROUPS": "a", "THREADKEEPER_PORT_1883_TCP_ADDR": "10.0.0.1",
          "THREADKEEPER_PORT": "tcp://10.0.0.1:1", "THREADKEEPER_SOCKET": "/run/x", "THREADKEEPER_NETWORK_TEAM": "a",
          "OTHER_MQTT_PORT": "x", "THREADKEEPER_MQTT_PORT": "", "THREADKEEPER_UNKNOWN": "",
        ]) == [])
    _ = try problem("", ["THREADKEEPER_PORT": "1883"])
    let directory = try ConfigurationDirectory()
    let result = SettingsLoader.load(
      file: nil, environment: ["THREADKEEPER_BENCH": "1"], otherVariables: ["THREADKEEPER_BENCH"],
      systemFile: "/dev/null/none", workingDirectory: directory.path, isRoot: true)
    #expect(result.problems.isEmpty)
  }

  @Test("A variable with _FILE takes the value from the file, without one line end") func file() throws {
    let directory = try ConfigurationDirectory()
    try directory.write("mqtt: {host: b, username: a, password: c}")
    for (content, value) in [
      ("pw", "pw"), ("pw\n", "pw"), ("pw\r\n", "pw"), ("pw\n\n", "pw\n"), (" pw \n", " pw "), ("pw\r", "pw\r"),
    ] {
      try directory.write(content, to: "secret")
      let settings = directory.load(["THREADKEEPER_MQTT_PASSWORD_FILE": "secret"]).settings
      #expect(settings?.mqtt.password?.revealed == value)
    }
    for (text, name) in [("2222\n", "port"), ("/srv/key\n", "path"), ("{a: [b]}", "teams")] {
      try directory.write(text, to: name)
    }
    let found = directory.load([
      "THREADKEEPER_MQTT_PORT_FILE": directory.path + "/port", "THREADKEEPER_STORE_KEY_FILE_FILE": "path",
      "THREADKEEPER_TEAMS_FILE": "teams",
    ]).settings
    #expect((found?.mqtt.port, found?.store.keyFile) == (2222, "/srv/key"))
    #expect(found?.teams == ["a": ["b"]])
  }

  @Test("A variable and its _FILE together are refused; so is a file that is not there or empty") func fileProblems()
    throws
  {
    let directory = try ConfigurationDirectory()
    try directory.write("mqtt: {host: b, username: a}")
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
      message([name: "empty", "THREADKEEPER_MQTT_PASSWORD": "x"]) == prefix
        + "THREADKEEPER_MQTT_PASSWORD is set too; set one of the two")
    #expect(message([name: "empty"]) == prefix + "`\(directory.path)/empty` is empty")
    #expect(message([name: "none"]) == prefix + "`\(directory.path)/none` cannot be read: No such file or directory")
  }
}
