import Foundation
import Settings
import TestKit
import Testing
import ThreadkeeperSupport

@testable import Threadkeeper

@Suite("The settings that setup writes") struct SetupDraftTests {
  private let directory: TemporaryDirectory
  private let path: String

  init() throws {
    directory = try TemporaryDirectory()
    path = directory.file("threadkeeper.yaml")
  }

  private func answer(_ settings: inout Settings) {
    settings.mqtt.host = .named("broker.local")
    settings.mqtt.username = "keeper"
    settings.mqtt.password = nil
  }

  private func draft(_ text: String?, _ change: ((inout Settings) -> Void)? = nil) throws -> SetupDraft {
    if let text { try Data(text.utf8).write(to: URL(fileURLWithPath: path)) }
    let place = try SetupPlace(path)
    let current = try #require(SetupDraft.load(place.text ?? "", place, stateDirectory: nil).settings)
    var wanted = current
    (change ?? answer)(&wanted)
    return try SetupDraft(wanted, for: place, current, stateDirectory: nil)
  }

  private func mode() throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    return try #require(attributes[.posixPermissions] as? NSNumber).intValue
  }

  @Test(
    "The commands that it prints name the settings that an option or a variable names",
    arguments: [
      ([], [:], []), (["--config", "a b"], [:], ["--config", "'a b'"]),
      (
        [], ["THREADKEEPER_CONFIG": "/b", "THREADKEEPER_STATE_DIRECTORY": "/s"],
        ["--config", "/b", "--state-directory", "/s"]
      ),
      (
        ["--config", "/a", "--state-directory", "/t"], ["THREADKEEPER_CONFIG": "/b"],
        ["--config", "/a", "--state-directory", "/t"]
      ), ([], ["THREADKEEPER_CONFIG": ""], []),
    ] as [([String], [String: String], [String])]) func words(
      _ arguments: [String], _ environment: [String: String], _ words: [String]
    ) throws
  { #expect(try SettingsOptions.parse(arguments).words(environment) == words) }

  @Test("A page for the network is written before its token is made, and has none of its own") func openPage() throws {
    let draft = try draft("mqtt:\n  host: embedded\n") { PageReach.home.apply(to: &$0.http, host: "pi") }
    #expect(draft.text.contains("http:\n  address: 0.0.0.0\n  names: [pi.local, pi]\n"), "\(draft.text)")
    #expect(draft.settings.http.token == nil && draft.changes.map(\.key) == ["http.address", "http.names"])
  }

  @Test("A new file names the broker and the login, and is for its user alone") func new() throws {
    let draft = try draft(nil)
    #expect(draft.text.hasSuffix("mqtt:\n  host: broker.local\n  username: keeper\n"), "\(draft.text)")
    try SetupPlace(path).write(draft.text)
    #expect(try mode() == 0o600)
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["threadkeeper.yaml"])
    // The same again changes nothing.
    let again = try self.draft(nil)
    #expect(again.changes == [] && again.text == draft.text)
  }

  @Test("Of a file that is there other keys, comments and the mode stay") func kept() throws {
    let text = "# mine\nmqtt:\n  host: embedded # soon\n  client_id: x\nalerts:\n  hold: 7\n"
    let draft = try draft(text)
    #expect(
      draft.text
        == "# mine\nmqtt:\n  username: keeper\n  host: broker.local # soon\n  client_id: x\nalerts:\n  hold: 7\n")
    #expect(draft.changes.map(\.key) == ["mqtt.host", "mqtt.username"])
    chmod(path, 0o640)
    try SetupPlace(path).write(draft.text)
    #expect(try mode() == 0o640)
    #expect(try String(contentsOfFile: path, encoding: .utf8) == draft.text)
  }

  @Test("A file that was changed since it was read is left as it is") func changedMeanwhile() throws {
    let draft = try draft("mqtt:\n  host: embedded\n")
    let place = try SetupPlace(path)
    let other = "mqtt:\n  host: other.local\n"
    try Data(other.utf8).write(to: URL(fileURLWithPath: path))
    let failure = #expect(throws: CommandFailure.self) { try place.write(draft.text) }
    #expect(failure?.status == .temporary)
    #expect(try String(contentsOfFile: path, encoding: .utf8) == other)
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["threadkeeper.yaml"])
  }

  @Test("A password in the settings goes when another one is given, and stays otherwise") func password() throws {
    let text = "mqtt:\n  host: broker.local\n  username: keeper\n  password: Sesame-4711\n"
    let draft = try draft(text)
    #expect(draft.settings.mqtt.password == nil)
    #expect(draft.changes.map(\.key) == ["mqtt.password"])
    #expect(!draft.text.contains("Sesame") && !"\(draft.changes)".contains("Sesame"))
    #expect(try self.draft(text) { _ in }.changes == [])
  }

  @Test("A file in another form is left as it is, with the keys that a person has to change") func byHand() throws {
    let failure = #expect(throws: CommandFailure.self) { try draft("mqtt: {host: embedded}\n") }
    #expect(failure?.status == .configuration)
    #expect(failure?.remedy?.contains("`mqtt.host`: broker.local") == true)
  }

  @Test("Settings that cannot be used are not written") func unusable() throws {
    let failure = #expect(throws: CommandFailure.self) { try draft("") { $0.mqtt.baseTopic = "a/#" } }
    #expect(failure?.status == .configuration && failure?.message.contains("mqtt.base_topic") == true)
  }
}

@Suite("Settings that nobody has changed") struct PackagedSettingsTests {
  @Test(
    "They are the package's, byte for byte, in the place of the whole machine",
    arguments: [("a: 1\n", "threadkeeper", true), ("a: 2\n", "threadkeeper", false), ("a: 1\n", "other", false)])
  func packaged(_ text: String, _ name: String, _ isAsPackaged: Bool) throws {
    let root = try TemporaryDirectory()
    let system = SystemPlaces(environment: [SystemPlaces.rootVariable: root.path])
    let path = root.file("etc/threadkeeper/\(name).yaml")
    for (file, text) in [(system.packagedConfiguration, "a: 1\n"), (path, text)] {
      try FileManager.default.createDirectory(atPath: FilePath.directory(of: file), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: URL(fileURLWithPath: file))
    }
    #expect(try SetupPlace(path).isAsPackaged(system) == isAsPackaged)
    try FileManager.default.removeItem(atPath: system.packagedConfiguration)
    #expect(try !SetupPlace(path).isAsPackaged(system))
  }
}

@Suite("What setup adds to the service's unit") struct StoreDropInTests {
  private let directory: TemporaryDirectory
  private let places: SystemPlaces

  init() throws {
    directory = try TemporaryDirectory()
    places = SystemPlaces(environment: [SystemPlaces.rootVariable: directory.path])
  }

  private func dropIn(_ store: String?, key: String? = nil) -> StoreDropIn {
    var settings = Settings(stateDirectory: places.stateDirectory)
    if let store { settings.store = .init(path: store, keyFile: key) }
    return StoreDropIn(settings, places)
  }

  @Test("A store elsewhere has the service wait for its disk, and write there; else there is nothing") func elsewhere()
    throws
  {
    #expect(dropIn(nil).text == nil)
    #expect(try !dropIn(nil).write())
    let own = dropIn("/srv/100% \"disk\"/store", key: places.stateDirectory + "/store.key")
    #expect(try own.write() && !own.write())
    let text = try String(contentsOfFile: places.storeDropIn, encoding: .utf8)
    #expect(text.contains("\n[Unit]\nRequiresMountsFor=\"/srv/100%% \\\"disk\\\"/store\"\n"), "\(text)")
    #expect(text.contains("\n[Service]\nReadWritePaths=\"-/srv/100%% \\\"disk\\\"\"\n"), "\(text)")
    let both = dropIn("/mnt/a/store", key: "/mnt/b/store.key")
    #expect(both.text?.contains("RequiresMountsFor=\"/mnt/a/store\" \"/mnt/b/store.key\"\n") == true)
    // Back in the state directory.
    #expect(try dropIn(nil).write())
    #expect(!FileManager.default.fileExists(atPath: places.storeDropIn))
  }

  @Test("A file that somebody else has written there stays") func others() throws {
    #expect(try dropIn("/mnt/a/store").write())
    try Data("[Unit]\n".utf8).write(to: URL(fileURLWithPath: places.storeDropIn))
    #expect(try !dropIn("/mnt/b/store").write() && !dropIn(nil).write())
    #expect(try String(contentsOfFile: places.storeDropIn, encoding: .utf8) == "[Unit]\n")
  }
}
