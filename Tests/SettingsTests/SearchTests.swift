// SPDX-License-Identifier: Apache-2.0

import Settings
import Testing

struct SearchTests {
  let directory: ConfigurationDirectory

  init() throws {
    directory = try ConfigurationDirectory()
    for (file, seconds) in [
      "given.yaml": 1, "named.yaml": 2, "xdg/threadkeeper/threadkeeper.yaml": 3,
      "home/.config/threadkeeper/threadkeeper.yaml": 4, "etc.yaml": 5, "threadkeeper.yaml": 6,
    ] {
      try directory.write("alerts: {hold: \(seconds)}", to: file)
    }
  }

  private func result(_ file: String?, _ environment: [String: String], etc: String = "/etc.yaml")
    -> SettingsResult
  {
    SettingsLoader.load(
      file: file, environment: environment, systemFile: directory.path + etc,
      workingDirectory: directory.path, isRoot: true)
  }

  @Test("Command line, variable, own configuration, system; never the working directory")
  func order() {
    var environment = [
      "THREADKEEPER_CONFIG": "named.yaml", "XDG_CONFIG_HOME": directory.path + "/xdg",
      "HOME": directory.path + "/home",
    ]
    #expect(result("given.yaml", environment).settings?.alerts.holdSeconds == 1)
    #expect(result(nil, environment).settings?.alerts.holdSeconds == 2)
    environment["THREADKEEPER_CONFIG"] = ""
    #expect(result(nil, environment).settings?.alerts.holdSeconds == 3)
    environment["XDG_CONFIG_HOME"] = nil
    #expect(result(nil, environment).settings?.alerts.holdSeconds == 4)
    environment["HOME"] = "/dev/null"
    let system = result(nil, environment)
    #expect(system.settings?.alerts.holdSeconds == 5)
    #expect(system.file == directory.path + "/etc.yaml")
    let nothing = result(nil, environment, etc: "/none.yaml")
    #expect(nothing.settings?.alerts.holdSeconds == 30)
    #expect(nothing.file == nil)
  }

  @Test("A file that is named must be there")
  func missing() {
    let results = [result("none.yaml", [:]), result(nil, ["THREADKEEPER_CONFIG": "none.yaml"])]
    for result in results {
      #expect(result.settings == nil)
      #expect(
        result.problems.map(\.description) == [
          "none.yaml: error: the configuration cannot be read: No such file or directory"
        ])
    }
  }

  @Test("One that is found and is no file is an error, not a reason to look on")
  func broken() throws {
    try directory.write("x", to: "xdg2/threadkeeper/threadkeeper.yaml/x")
    let result = result(nil, ["XDG_CONFIG_HOME": directory.path + "/xdg2"])
    #expect(result.settings == nil)
    #expect(result.problems.first?.message == "the configuration is not a file")
  }
}
