import DaemonTestKit
import Foundation
import KeychainCore
import TestKit
import Testing
import ThreadkeeperSupport

@testable import Threadkeeper

@Suite("What a backup holds beside the store") struct MachineFilesTests {
  private let root: TemporaryDirectory
  private let store: TemporaryStore
  private let system: SystemPlaces

  init() throws {
    root = try TemporaryDirectory()
    store = try TemporaryStore()
    system = SystemPlaces(environment: [SystemPlaces.rootVariable: root.path])
    for directory in ["etc/threadkeeper", "etc/threadkeeper-agent"] {
      try FileManager.default.createDirectory(atPath: root.file(directory), withIntermediateDirectories: true)
    }
    try put("{}", "etc/threadkeeper/threadkeeper.yaml")
  }

  private func put(_ text: String, _ name: String) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: root.file(name)))
  }

  private func read(as configuration: String? = nil) -> (machine: MachineFiles, leftOut: [String]) {
    let found = MachineFiles.read(
      MovedStore.settings(store), configuration: configuration ?? system.configuration, system)
    return (found.machine, found.leftOut.map(\.path))
  }

  @Test("Links, other names of a file and what is no file are left out, and named") func strange() throws {
    try put("a", "etc/threadkeeper-agent/key")
    try put("b", "elsewhere")
    try FileManager.default.createDirectory(
      atPath: root.file("etc/threadkeeper-agent/old"), withIntermediateDirectories: false)
    #expect(symlink(root.file("elsewhere"), root.file("etc/threadkeeper-agent/link")) == 0)
    #expect(link(root.file("elsewhere"), root.file("etc/threadkeeper-agent/name")) == 0)
    let (machine, leftOut) = read()
    #expect(machine.files.map(\.name) == ["", "key"])
    #expect(leftOut == ["link", "name", "old"].map { root.file("etc/threadkeeper-agent/" + $0) })
    #expect(try MachineFiles(decoding: [UInt8](machine.encoded())) == machine)
  }

  @Test("A file of another user is left out", .enabled(if: geteuid() == 0, "gives files away")) func others() throws {
    try put("a", "etc/threadkeeper-agent/key")
    #expect(chown(root.file("etc/threadkeeper-agent/key"), 12_345, 12_345) == 0)
    #expect(read().leftOut == [root.file("etc/threadkeeper-agent/key")])
  }

  @Test("A group that another machine need not have is not recorded", .enabled(if: geteuid() == 0, "gives files away"))
  func groups() throws {
    try put("a", "etc/threadkeeper-agent/key")
    #expect(chown(root.file("etc/threadkeeper-agent/key"), 0, 12_345) == 0)
    #expect(chown(root.file("etc/threadkeeper/threadkeeper.yaml"), 0, 0) == 0)
    #expect(read().machine.files.map(\.group) == [.root, nil])
  }

  @Test("More files or bytes than there is room for are left out, and what is taken fits") func bounded() throws {
    try put(String(repeating: "a", count: MachineFiles.mostBytes), "etc/threadkeeper-agent/large")
    for number in 0..<MachineFiles.mostFiles { try put("\(number)", "etc/threadkeeper-agent/small-\(number)") }
    let (machine, leftOut) = read()
    #expect(machine.files.count == MachineFiles.mostFiles)
    #expect(leftOut.count == 2 && leftOut.first == root.file("etc/threadkeeper-agent/large"))

    try FileManager.default.removeItem(atPath: root.file("etc/threadkeeper-agent"))
    try FileManager.default.createDirectory(
      atPath: root.file("etc/threadkeeper-agent"), withIntermediateDirectories: false)
    // Slashes in base64.
    try Data(repeating: 0xFF, count: MachineFiles.mostBytes - 2).write(
      to: URL(fileURLWithPath: root.file("etc/threadkeeper-agent/large")))
    #expect(try read().machine.encoded().count <= Keychain.longestAttachment)
    #expect(read().leftOut.isEmpty)
  }

  @Test("Settings of one user alone say nothing of the machine's agents") func ownSettings() throws {
    try put("a", "etc/threadkeeper-agent/key")
    try put("{}", "own.yaml")
    #expect(read(as: root.file("own.yaml")).machine.files.map(\.place) == [.settings])
  }

  @Test(
    "Names that lead elsewhere, and other units, are no backup of this program",
    arguments: ["../x", "a/b", ".", "..", "", "a\0", String(repeating: "a", count: 201)]) func names(_ name: String)
    throws
  {
    var machine = MachineFiles()
    machine.files = [.init(place: .agents, name: name, owner: .root, mode: 0o600, contents: Data())]
    let bytes = [UInt8](try machine.encoded())
    #expect(throws: CommandFailure.self) { try MachineFiles(decoding: bytes) }
    var other = MachineFiles()
    other.units = ["sshd"]
    let units = [UInt8](try other.encoded())
    #expect(throws: CommandFailure.self) { try MachineFiles(decoding: units) }
  }

  @Test("Units that run already are started again, and the others started") func starting() {
    #expect(
      MachineRestore.starting(["a", "b"]) { $0 == "a" } == [
        ["systemctl", "enable", "--now", "b"], ["systemctl", "enable", "a"], ["systemctl", "restart", "a"],
      ])
    #expect(MachineRestore.starting(["a"]) { _ in false } == [["systemctl", "enable", "--now", "a"]])
    #expect(MachineRestore.starting([]) { _ in true }.isEmpty)
  }

  @Test(
    "What is replaced has a copy beside it until all is done, and is back where it is not", arguments: [true, false])
  func copies(_ isDone: Bool) throws {
    var machine = MachineFiles()
    machine.files = [.init(place: .agents, name: "key", owner: .root, mode: 0o600, contents: Data("new".utf8))]
    try put("old", "etc/threadkeeper-agent/key")
    var restore = try MachineRestore(machine, SetupPlace(system.configuration), system, replacing: true)
    try restore.putFiles()
    let directory = root.file("etc/threadkeeper-agent")
    let names = try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
    #expect(names.count == 2 && names.last?.hasPrefix("key.threadkeeper-") == true, "\(names)")
    #expect(try String(contentsOfFile: "\(directory)/\(names.last ?? "")", encoding: .utf8) == "old")
    #expect(try String(contentsOfFile: directory + "/key", encoding: .utf8) == "new")
    if isDone { restore.forget() } else { restore.undo() }
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["key"])
    #expect(try String(contentsOfFile: directory + "/key", encoding: .utf8) == (isDone ? "new" : "old"))
  }
}
