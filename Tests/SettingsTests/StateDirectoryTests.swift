// SPDX-License-Identifier: Apache-2.0

import Settings
import Testing

struct StateDirectoryTests {
  private func directory(
    _ environment: [String: String], given: String? = nil, isRoot: Bool = false
  ) -> String? {
    SettingsLoader.load(
      file: nil, environment: environment, stateDirectory: given, systemFile: "/dev/null/none",
      workingDirectory: "/srv", isRoot: isRoot
    ).settings?.stateDirectory
  }

  @Test("The first rule that applies decides")
  func order() {
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
  }

  @Test("Without any place, that is said")
  func none() {
    #expect(directory([:]) == nil)
  }
}
