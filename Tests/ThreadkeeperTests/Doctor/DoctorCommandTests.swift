import Foundation
import Settings
import TestKit
import Testing

@testable import Threadkeeper

@Suite("What doctor finds where no broker answers, and how it ends") struct DoctorCommandTests {
  private let directory: TemporaryDirectory
  private let file: String

  init() throws {
    directory = try TemporaryDirectory()
    file = directory.file("threadkeeper.yaml")
  }

  /// - Parameter mqtt: lines of the section, beside a port where nothing listens.
  private func put(_ mqtt: String = "", mode: mode_t = 0o600) throws -> Settings? {
    let text = """
      mqtt: {host: 127.0.0.1, port: \(try UnusedPort.next())\(mqtt)}
      store: {path: \(directory.file("store")), key_file: \(directory.file("store.key"))}
      discovery: {mdns: off}
      http: {enabled: false}
      """
    try Data(text.utf8).write(to: URL(fileURLWithPath: file))
    chmod(file, mode)
    return SettingsLoader.load(file: file, environment: [:], stateDirectory: directory.path).settings
  }

  private func doctor(_ words: String...) async -> CommandScene.Outcome {
    await CommandScene.run(["doctor", "--config", file] + words)
  }

  /// What stands at the end of the output.
  private func problems(_ outcome: CommandScene.Outcome) -> String {
    outcome.output.components(separatedBy: "Problem").dropFirst().joined()
  }

  @Test("A store whose key is lost is a problem with 77, and one that is lost itself is named") func lostStore()
    async throws
  {
    let settings = try #require(try put())
    try OpenStore.create(settings).close()
    let whole = await doctor()
    #expect(whole.status == 69 && problems(whole).contains("Nothing listens"), "\(whole)")
    let key = settings.store.keyFile
    try FileManager.default.moveItem(atPath: key, toPath: key + ".away")
    let locked = await doctor("--json")
    #expect(locked.status == 77 && locked.output.contains("There is no key file at "), "\(locked)")
    try FileManager.default.moveItem(atPath: key + ".away", toPath: key)
    let database = settings.store.path + "/store.sqlite3"
    try FileManager.default.removeItem(atPath: database)
    try Data().write(to: URL(fileURLWithPath: database + "-wal"))
    #expect(problems(await doctor()).contains("any more, and "))
  }

  @Test("Another login's name is one level of a topic, and its password no secret of the network") func otherLogin()
    async throws
  {
    _ = try put(", username: threadkeeper")
    let password = directory.file("password")
    try Data("hub-pw\n".utf8).write(to: URL(fileURLWithPath: password))
    chmod(password, 0o600)
    for name in ["threadkeeper", "+", "a/b"] {
      let outcome = await doctor("--login", name, "--password-file", password)
      #expect(outcome.status == 64 && outcome.output.isEmpty, "\(name): \(outcome.error)")
    }
    #expect(await doctor("--password-file", password).status == 64)
    let near = await doctor("--login", "hub", "--password-file", password)
    #expect(!near.error.contains("unencrypted"))
    let text = try String(contentsOfFile: file, encoding: .utf8)
    try Data(text.replacing("127.0.0.1", with: "broker.invalid").utf8).write(to: URL(fileURLWithPath: file))
    let far = await doctor("--login", "hub", "--password-file", password)
    #expect(far.error.contains("the password of hub goes to broker.invalid unencrypted"))
    #expect(!(far.error + far.output).contains("hub-pw"))
  }

  @Test("Settings that everybody reads are a problem where they have a password; mistakes end with 78") func settings()
    async throws
  {
    _ = try put(", username: threadkeeper, password: gurkensalat", mode: 0o644)
    let open = await doctor()
    #expect(open.status == 77 && open.output.contains("Run `chmod o-rwx FILE`"), "\(open)")
    #expect(!(open.output + open.error).contains("gurkensalat"))
    _ = try put(", protocol: 4")
    let wrong = await doctor()
    #expect(wrong.status == 78 && wrong.output.contains("mqtt.protocol"), "\(wrong)")
  }
}
