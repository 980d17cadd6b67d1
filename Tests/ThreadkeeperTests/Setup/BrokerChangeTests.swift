import Broker
import Foundation
import TestKit
import Testing
import ThreadkeeperSupport

@testable import Threadkeeper

@Suite("What setup changes in a broker's files, and takes back") struct BrokerChangeTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private var place: BrokerUndo.Place { BrokerUndo.Place(directory: directory.path) }

  private func write(_ text: String, _ name: String) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: directory.file(name)))
  }

  private func file(_ name: String, _ after: String) -> BrokerFile {
    let path = directory.file(name)
    return BrokerFile(path: path, before: WholeFile.read(path), after: after, access: .init(mode: 0o640))
  }

  /// - Parameter failure: of the broker, with the new files.
  @discardableResult private func apply(_ files: [BrokerFile], failure: CommandFailure? = nil) async throws -> [String]
  {
    let change = BrokerChange(files: files, undo: place, restart: BrokerRestart(command: ["true"]))
    return try await change.apply(now: Date(timeIntervalSince1970: 0)) { if let failure { throw failure } }
  }

  private var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted() }
  }

  private func mode(_ name: String) throws -> Int? {
    let attributes = try FileManager.default.attributesOfItem(atPath: directory.file(name))
    return (attributes[.posixPermissions] as? NSNumber)?.intValue
  }

  @Test(
    "The difference has each line that goes and comes, in its order",
    arguments: [
      ("", "a\nb\n", ["+a", "+b"]), ("a\nb\nc\n", "a\nx\nc\n", ["-b", "+x"]), ("a\n", "a\n", []),
      ("a", "a\nb\n", ["+b"]), ("a\nb\n", "b\n", ["-a"]),
    ] as [(String, String, [String])]) func difference(_ before: String, _ after: String, _ lines: [String])
  { #expect(BrokerFile.difference(before, after) == lines) }

  @Test("What stands for a password is not shown") func masked() {
    let file = BrokerFile(path: "/p", before: nil, after: "tk:$7$101$x\n", access: .broker, isSecret: true)
    #expect(file.difference == ["+tk:…"])
  }

  @Test("A copy has what was there, with its mode; the file keeps its own, and a new one gets one") func copies()
    async throws
  {
    try write("old\n", "list")
    chmod(directory.file("list"), 0o604)
    let copies = try await apply([file("list", "new\n"), file("made", "made\n")])
    #expect(copies == [directory.file("list.threadkeeper-19700101-000000")])
    #expect(try names == ["list", "list.threadkeeper-19700101-000000", "made", "threadkeeper.undo"])
    #expect(WholeFile.read(copies[0]) == "old\n" && WholeFile.read(directory.file("list")) == "new\n")
    for (name, mode) in [
      ("list", 0o604), ("list.threadkeeper-19700101-000000", 0o604), ("made", 0o640), ("threadkeeper.undo", 0o600),
    ] { #expect(try self.mode(name) == mode, "\(name)") }
  }

  @Test("Again its own work is replaced without another copy, and taken back to what was there first") func again()
    async throws
  {
    try write("old\n", "list")
    try await apply([file("list", "one\n")])
    #expect(try await apply([file("list", "two\n")]) == [])
    let record = try place.load()
    #expect(record.plan().map(\.action) == [.restored])
    try record.apply(record.plan(), place)
    #expect(WholeFile.read(directory.file("list")) == "old\n")
    #expect(try names == ["list"])
  }

  @Test("Where the broker fails, files, copies and record are as before") func fails() async throws {
    try write("old\n", "list")
    let failure = CommandFailure(.unavailable, "it does not answer")
    for isAgain in [false, true] {
      if isAgain { try await apply([file("list", "one\n")]) }
      let (before, record) = (try names, try place.load())
      let text = WholeFile.read(directory.file("list"))
      await #expect(throws: CommandFailure.self) {
        try await apply([file("list", "new\n"), file("made", "made\n")], failure: failure)
      }
      #expect(try names == before && place.load() == record)
      #expect(WholeFile.read(directory.file("list")) == text)
    }
  }

  @Test("Where a file cannot be put back, its copy and the record stay", .enabled(if: geteuid() != 0))
  func cannotPutBack() async throws {
    try write("old\n", "list")
    let name = directory.file("list")
    let change = BrokerChange(files: [file("list", "new\n")], undo: place, restart: BrokerRestart(command: ["true"]))
    let failure = await #expect(throws: CommandFailure.self) {
      try await change.apply(now: Date(timeIntervalSince1970: 0)) {
        chmod(directory.path, 0o500)
        throw CommandFailure(.unavailable, "it does not answer")
      }
    }
    chmod(directory.path, 0o700)
    #expect(failure?.remedy?.contains("could not be put back") == true)
    #expect(WholeFile.read(name + ".threadkeeper-19700101-000000") == "old\n")
    #expect(try place.load().entries.count == 1)
  }

  @Test("A file that is not UTF-8 is neither read nor replaced") func notText() async throws {
    try write("old\n", "list")
    let name = directory.file("list")
    try Data([0x23, 0xFC, 0x0A]).write(to: URL(fileURLWithPath: name))
    #expect(WholeFile.read(name) == nil)
    await #expect(throws: CommandFailure.self) { try await apply([file("list", "new\n")]) }
    #expect(try Data(contentsOf: URL(fileURLWithPath: name)) == Data([0x23, 0xFC, 0x0A]))
    #expect(try names == ["list"])
  }

  @Test("Without a person, a first password file needs the option that says whom it shuts out") func firstPasswordFile()
    throws
  {
    let option = "--refuse-unknown-logins"
    for (before, options, isRefused) in [(nil, [], true), (nil, [option], false), ("a:$7$\n", [], false)]
      as [(String?, [String], Bool)]
    {
      var passwords = file("passwords", "tk:$7$\n")
      passwords = BrokerFile(
        path: passwords.path, before: before, after: passwords.after, access: passwords.access, isSecret: true)
      let change = BrokerChange(
        files: [file("list", "new\n"), passwords], undo: place, restart: BrokerRestart(command: ["true"]))
      let flags = try SetupFlags.parse(options)
      do {
        try change.checkUnasked(flags)
        #expect(!isRefused)
      } catch { #expect(isRefused && error.status == .usage && error.remedy?.contains(option) == true) }
    }
  }

  @Test("A file that was changed after it was shown is not written") func changedMeanwhile() async throws {
    try write("old\n", "list")
    let change = file("list", "new\n")
    try write("other\n", "list")
    await #expect(throws: CommandFailure.self) { try await apply([change]) }
    #expect(WholeFile.read(directory.file("list")) == "other\n")
    #expect(try names == ["list"])
  }

  @Test("What was changed since is left with setup's lines named, and so is a new file that it names") func left()
    async throws
  {
    try write("persistence true\n", "mosquitto.conf")
    try await apply([
      file("made.acl", "user tk\n"),
      file("mosquitto.conf", "persistence true\nacl_file \(directory.file("made.acl"))\n"),
    ])
    try write("acl_file \(directory.file("made.acl"))\nlistener 1883\n", "mosquitto.conf")
    let record = try place.load()
    let steps = record.plan()
    #expect(steps.map(\.action) == [.left, .left])
    #expect(steps.first?.lines == ["+acl_file \(directory.file("made.acl"))"])
    try record.apply(steps, place)
    #expect(try place.load() == record)
    // Without that line the list is nobody's.
    try write("listener 1883\n", "mosquitto.conf")
    let rest = record.plan()
    #expect(rest.map(\.action) == [.left, .removed] && rest.first?.lines == [])
    try record.apply(rest, place)
    #expect(try place.load() == BrokerUndo())
    #expect(UndoReport(files: rest, dryRun: false).text.contains("nothing of setup's is in it"))
  }

  @Test("A record that others could have written is refused", arguments: [0o644, 0o620]) func strange(_ mode: mode_t)
    throws
  {
    try write("{\"entries\": []}", "threadkeeper.undo")
    chmod(directory.file("threadkeeper.undo"), mode)
    #expect(throws: CommandFailure.self) { try place.load() }
  }

  // MARK: Which files

  private func advice(_ list: String?, logins: [String], kept: [String] = [], isAnonymous: Bool = false) throws
    -> BrokerAdvice
  {
    var lines = ["listener 1883", "allow_anonymous \(isAnonymous)", "password_file \(directory.file("passwords"))"]
    try write(logins.map { "\($0):x\n" }.joined(), "passwords")
    if let list {
      try write(list, "own.acl")
      lines.append("acl_file \(directory.file("own.acl"))")
    }
    try write(lines.joined(separator: "\n") + "\n", "mosquitto.conf")
    let house = try #require(
      HouseBroker(host: "127.0.0.1", port: 1883, file: directory.file("mosquitto.conf"))?.withoutOwnLines)
    var wanted = AccessList(baseTopics: ["threadkeeper"], daemons: ["threadkeeper"])
    wanted.kept = kept
    wanted.isAddition = list != nil
    return BrokerAdvice(list: wanted, files: house, gaps: try house.gaps(wanted))
  }

  @Test("Of a broker without a list three files change: the login, the list, and what names it") func three() throws {
    let files = try advice(nil, logins: ["hub"]).changes { "\($0):y" }
    #expect(files.map(\.path) == ["passwords", "threadkeeper.acl", "mosquitto.conf"].map(directory.file))
    #expect(files.first?.difference == ["+threadkeeper:…"])
    #expect(files.last?.difference.first == "+acl_file \(directory.file("threadkeeper.acl"))")
    #expect(files[1].before == nil && files[1].after.contains("user threadkeeper\n"))
  }

  @Test("In a list of others, lines that allow too much are narrowed, and only those") func narrowed() throws {
    let others = """
      topic readwrite #
      user hub
      topic read  threadkeeper/#
      topic read weather
      user homeassistant
      \ttopic readwrite #
      user lamp
      topic readwrite lamp/#

      """
    var advice = try advice(others, logins: ["threadkeeper", "hub", "homeassistant", "lamp"], isAnonymous: true)
    advice.list.kept = ["homeassistant"]
    advice.list.monitors = ["homeassistant"]
    let house = try #require(advice.files)
    advice.gaps = try house.gaps(advice.list)
    #expect(advice.unknownWriters == ["homeassistant"])
    advice.list.keptWrites = ["homeassistant/#", "house/#"]
    #expect(advice.unknownWriters == [])
    let file = try #require(try advice.changes { $0 }.first)
    let difference = file.difference.prefix { !$0.contains("Begin of threadkeeper") }
    #expect(
      difference == [
        "+topic deny threadkeeper/#", "-topic read  threadkeeper/#", "-\ttopic readwrite #", "+topic read #",
        "+topic write homeassistant/#", "+topic write house/#", "+",
      ], "\(file.difference)")
    try write(file.after, "own.acl")
    let after = try #require(HouseBroker(host: "127.0.0.1", port: 1883, file: directory.file("mosquitto.conf")))
    #expect(try after.gaps(advice.list) == [])
  }

  @Test("Lines in a list of others are replaced whole, and what others wrote stays") func replaced() throws {
    let others = "user nodered\ntopic readwrite #\n"
    let first = try advice(others, logins: ["threadkeeper", "nodered"], kept: ["nodered"]).changes { $0 }
    let list = try #require(first.first)
    #expect(list.path == directory.file("own.acl") && list.after.hasPrefix(others))
    let later = "user lamp\ntopic read lamp\n"
    let again = try advice(list.after + later, logins: ["threadkeeper", "nodered"], kept: ["nodered"]).changes { $0 }
    let text = try #require(again.first).after
    #expect(text.hasPrefix(others + later))
    #expect(text.components(separatedBy: "user threadkeeper\n").count == 2)
  }
}
