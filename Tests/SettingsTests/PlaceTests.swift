import Settings
import Testing

@Suite("Which settings file is read") struct SearchTests {
  let directory: ConfigurationDirectory

  init() throws {
    directory = try ConfigurationDirectory()
    for (file, seconds) in [
      "given.yaml": 1, "named.yaml": 2, "xdg/threadkeeper/threadkeeper.yaml": 3,
      "home/.config/threadkeeper/threadkeeper.yaml": 4, "etc.yaml": 5, "threadkeeper.yaml": 6,
    ] { try directory.write("alerts: {hold: \(seconds)}", to: file) }
  }

  private func result(_ file: String?, _ environment: [String: String], etc: String = "/etc.yaml") -> SettingsResult {
    SettingsLoader.load(
      file: file, environment: environment, systemFile: directory.path + etc, workingDirectory: directory.path,
      isRoot: true)
  }

  @Test("Command line, variable, own configuration, system; never the working directory") func order() {
    var environment = [
      "THREADKEEPER_CONFIG": "named.yaml", "XDG_CONFIG_HOME": directory.path + "/xdg", "HOME": directory.path + "/home",
    ]
    #expect(result("given.yaml", environment).settings?.eachHome.alertsHold == 1)
    #expect(result(nil, environment).settings?.eachHome.alertsHold == 2)
    environment["THREADKEEPER_CONFIG"] = ""
    #expect(result(nil, environment).settings?.eachHome.alertsHold == 3)
    environment["XDG_CONFIG_HOME"] = nil
    #expect(result(nil, environment).settings?.eachHome.alertsHold == 4)
    environment["HOME"] = "/dev/null"
    #expect(result(nil, environment).settings?.eachHome.alertsHold == 5)
    #expect(result(nil, environment).file == directory.path + "/etc.yaml")
    let nothing = result(nil, environment, etc: "/none.yaml")
    #expect(nothing.settings?.eachHome.alertsHold == 30 && nothing.file == nil)
  }

  @Test("A file that is named must be there") func missing() {
    let results = [result("none.yaml", [:]), result(nil, ["THREADKEEPER_CONFIG": "none.yaml"])]
    for result in results {
      #expect(result.settings == nil)
      #expect(
        result.problems.map(\.description) == [
          "none.yaml: error: the configuration cannot be read: No such file or directory"
        ])
    }
  }

  @Test("One that is found and is no file is an error, not a reason to look on") func broken() throws {
    try directory.write("x", to: "xdg2/threadkeeper/threadkeeper.yaml/x")
    let result = result(nil, ["XDG_CONFIG_HOME": directory.path + "/xdg2"])
    #expect(result.settings == nil)
    #expect(result.problems.first?.message == "the configuration is not a file")
  }
}

@Suite("Where the state lies") struct StateDirectoryTests {
  private func directory(_ environment: [String: String], given: String? = nil, isRoot: Bool = false) -> String? {
    SettingsLoader.load(
      file: nil, environment: environment, stateDirectory: given, systemFile: "/dev/null/none",
      workingDirectory: "/srv", isRoot: isRoot
    ).settings?.stateDirectory
  }

  @Test("The first rule that applies decides") func order() {
    var environment = ["HOME": "/home/ada"]
    #expect(directory(environment) == "/home/ada/.local/share/threadkeeper")
    environment["XDG_DATA_HOME"] = "relative/ignored"
    #expect(directory(environment) == "/home/ada/.local/share/threadkeeper")
    environment["XDG_DATA_HOME"] = "/data"
    #expect(directory(environment) == "/data/threadkeeper")
    #expect(directory(environment, isRoot: true) == "/var/lib/threadkeeper")
    environment["STATE_DIRECTORY"] = "/var/lib/private/keeper:/other"
    #expect(directory(environment, isRoot: true) == "/var/lib/private/keeper")
    environment["THREADKEEPER_STATE_DIRECTORY"] = "here"
    #expect(directory(environment, isRoot: true) == "/srv/here")
    #expect(directory(environment, given: "~/there") == "/home/ada/there")
    #expect(directory([:]) == nil, "no place")
  }
}

@Suite("Where the store lies") struct StoreTests {
  @Test("Without a word, key and anchor lie beside the store in the state directory") func defaults() throws {
    let store = try settings().store
    #expect(store.path == "/var/lib/threadkeeper/store")
    #expect(store.keyFile == "/var/lib/threadkeeper/store.key")
    #expect(store.anchorPath == "/var/lib/threadkeeper/store.anchor")
  }

  @Test("They follow the store; the key can be put elsewhere") func placed() throws {
    let moved = try settings("store: {path: /srv/./keeper//}").store
    #expect(moved == .init(path: "/srv/keeper"))
    #expect(moved.keyFile == "/srv/keeper.key")
    let apart = try settings("store: {path: /a, key_file: /b/k}").store
    #expect(apart == .init(path: "/a", keyFile: "/b/k") && apart.anchorPath == "/a.anchor")
  }

  @Test("A key inside the store, or where its directories are, is refused, by whatever way it gets there") func inside()
    throws
  {
    for (path, key) in [("/a", "/a/k"), ("/a", "/a"), ("/a/b", "/a/c/../b/k"), ("/a/b", "/a"), ("/a", "/a.anchor")] {
      let problems = try load("store: {path: \(path), key_file: \(key)}").problems
      #expect(!problems.isEmpty)
      #expect(problems.allSatisfy { $0.key == "store.key_file" && $0.line == 1 }, "\(problems)")
    }
    #expect(try problems("store: {path: /a, key_file: /ab}") == [])
  }

  @Test("Paths: relative to the file, not empty, one line") func paths() throws {
    let directory = try ConfigurationDirectory()
    try directory.write("store: {path: data/store}", to: "etc/threadkeeper.yaml")
    let result = SettingsLoader.load(
      file: "etc/threadkeeper.yaml", environment: ["THREADKEEPER_STORE_KEY_FILE": "k"],
      workingDirectory: directory.path, isRoot: true)
    #expect(result.settings?.store.path == directory.path + "/etc/data/store")
    #expect(result.settings?.store.keyFile == directory.path + "/k")
    for path in ["''", "\"a\\nb\"", "\"a\\0b\"", "[a]"] { _ = try problem("store: {path: \(path)}") }
  }
}
