import Foundation
import TestKit
import Testing

@testable import ThreadNetwork

struct EnvironmentTests {
  private func environment(_ variables: [String: String]) -> ClientEnvironment {
    ClientEnvironment(variables, workingDirectory: "/srv")
  }

  @Test("The store is where the program has it, by the same variables") func store() {
    let home = environment(["HOME": "/home/ada", "XDG_DATA_HOME": "/data", "THREADKEEPER_SYSTEM_ROOT": "/dev/null"])
    #expect(home.storeDirectory == "/data/threadkeeper/store")
    let state = environment(["THREADKEEPER_STATE_DIRECTORY": "state", "HOME": "/home/ada"])
    #expect(state.storeDirectory == "/srv/state/store")
    let named = environment([
      "THREADKEEPER_STORE_PATH": "~/a", "THREADKEEPER_STATE_DIRECTORY": "/state", "THREADKEEPER_STORE_KEY_FILE": "k",
      "THREADKEEPER_STORE_PASSPHRASE_FILE": "/p", "HOME": "/home/ada",
    ])
    #expect(named.storeDirectory == "/home/ada/a")
    #expect(named.keyFile == "/srv/k")
    #expect(named.passphraseFile == "/p")
  }

  @Test("Root's store is the machine's where a daemon is installed, and in root's home elsewhere") func root() throws {
    let place = try TemporaryDirectory()
    let found = environment(["HOME": "/home/ada", "THREADKEEPER_SYSTEM_ROOT": place.path])
    #expect(found.storeDirectory == "/home/ada/.local/share/threadkeeper/store")
    try FileManager.default.createDirectory(
      atPath: place.file("var/lib/threadkeeper"), withIntermediateDirectories: true)
    let expected = geteuid() == 0 ? "/var/lib/threadkeeper/store" : "/home/ada/.local/share/threadkeeper/store"
    #expect(found.storeDirectory?.hasSuffix(expected) == true)
  }

  @Test("What is empty or not set is the default") func defaults() {
    for found in [environment([:]), environment(["THREADKEEPER_SOCKET": ""])] {
      #expect(found.socket == nil)
      #expect(found.team == "uid/\(geteuid())")
      #expect(found.home == nil)
      #expect(found.allowsQuestions)
    }
    let found = environment([
      "THREADKEEPER_SOCKET": "s", "THREADKEEPER_NETWORK_TEAM": "t", "THREADKEEPER_NETWORK_HOME": "h",
      "THREADKEEPER_NETWORK_PRESENCE": "none",
    ])
    #expect(found.socket == "/srv/s")
    #expect(found.team == "t")
    #expect(found.home == "h")
    #expect(!found.allowsQuestions)
  }

  @Test("A program that brings a store is not led elsewhere by the environment") func ownStore() async {
    await #expect(processExitsWith: .success) {
      setenv("THREADKEEPER_SOCKET", "/run/other.sock", 1)
      setenv("THREADKEEPER_STORE_KEY_FILE", "/other.key", 1)
      let own = THClient.Configuration(storeDirectory: "/mine")
      precondition(own.socket == nil && own.keyFile == nil && own.machine == nil)
      let other = THClient.Configuration()
      precondition(other.socket == "/run/other.sock" && other.keyFile == "/other.key")
      unsetenv("THREADKEEPER_SYSTEM_ROOT")
      precondition(
        THClient.Configuration().machine
          == MachineDaemon(directory: "/var/lib/threadkeeper", socket: "/run/threadkeeper/client.sock"))
    }
  }

  @Test("A store is named by the program and by two variables, and not by systemd's directory") func naming() {
    #expect(environment(["THREADKEEPER_STORE_PATH": "/a"]).namesStore)
    #expect(environment(["THREADKEEPER_STATE_DIRECTORY": "/a"]).namesStore)
    let service = environment([
      "STATE_DIRECTORY": "/var/lib/hub", "HOME": "/home/ada", "XDG_DATA_HOME": "/data",
      "THREADKEEPER_SYSTEM_ROOT": "/image",
    ])
    #expect(!service.namesStore)
    #expect(service.machine.directory == "/image/var/lib/threadkeeper")
    #expect(service.machine.socket == "/image/run/threadkeeper/client.sock")
  }

  @Test("Who changes the store of a configuration names one") func changed() {
    var configuration = THClient.Configuration()
    #expect(configuration.machine != nil)
    configuration.storeDirectory = "/mine"
    #expect(configuration.machine == nil)
  }
}
