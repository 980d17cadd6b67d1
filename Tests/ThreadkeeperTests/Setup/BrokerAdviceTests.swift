import Broker
import Foundation
import TestKit
import Testing

@testable import Threadkeeper

@Suite("What setup says of a broker, from its files") struct BrokerAdviceTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private let wanted = AccessList(baseTopics: ["threadkeeper"], daemons: ["threadkeeper"])

  private func house(list: String?, logins: [String]? = ["threadkeeper", "hub", "nodered"], anonymous: Bool = false)
    throws -> HouseBroker
  {
    func write(_ text: String, _ name: String) throws -> String {
      try Data(text.utf8).write(to: URL(fileURLWithPath: directory.file(name)))
      return directory.file(name)
    }
    var lines = ["listener 1883", "allow_anonymous \(anonymous)", "persistence true"]
    if let list { lines.append("acl_file \(try write(list, "own.acl"))") }
    if let logins { lines.append("password_file \(try write(logins.map { "\($0):x\n" }.joined(), "passwords"))") }
    lines += ["max_queued_messages 0", "message_size_limit 65536"]
    let file = try write(lines.joined(separator: "\n") + "\n", "mosquitto.conf")
    return try #require(HouseBroker(host: "127.0.0.1", port: 1883, file: file))
  }

  private func advice(
    _ house: HouseBroker?, kept: [String] = [], isAnonymous: Bool = false, keepsAnonymous: Bool = false
  ) throws -> BrokerAdvice {
    var list = wanted
    list.kept = kept
    list.isAddition = house?.accessList != nil
    list.keepsAnonymous = keepsAnonymous
    return BrokerAdvice(list: list, files: house, gaps: try house?.gaps(list) ?? [], isAnonymous: isAnonymous)
  }

  private func lines(_ advice: BrokerAdvice) throws -> [String] { try advice.steps().steps.flatMap(\.lines) }

  @Test("Nothing is to be done where the list has no gap") func whole() throws {
    let house = try house(list: "user threadkeeper\ntopic readwrite #\n" + wanted.text())
    let advice = try advice(house)
    #expect(advice.gaps == [])
    #expect(try advice.steps().steps == [] && advice.steps().list == nil)
  }

  @Test("A border router's wide line is to be removed: a denial would take its own topics") func router() throws {
    let own = "user hub\ntopic read  threadkeeper/#\ntopic read weather\n"
    let house = try house(list: own + (try wanted.text()))
    let (steps, list) = try advice(house).steps()
    #expect(steps.flatMap(\.lines) == ["topic read  threadkeeper/#", "sudo systemctl restart mosquitto"])
    #expect(steps.first?.what.contains("hub") == true && list == nil)

    let kept = try advice(house, kept: ["hub"]).steps()
    #expect(kept.steps.flatMap(\.lines).contains { $0.contains("--keep hub | sudo tee -a") })
    #expect(kept.list?.contains("topic deny threadkeeper/#") == true)
  }

  @Test("In a list of others the denials of what is needed are to go: they win over all that is added") func denials()
    throws
  {
    let denial = "topic deny threadkeeper/in/#"
    let house = try house(
      list: "user nodered\ntopic read #\n\(denial)\ntopic deny threadkeeper/out/#\n" + wanted.text())
    var list = wanted
    list.deciders = ["nodered"]
    list.approvers = ["nodered"]
    list.kept = ["nodered"]
    list.isAddition = true
    let advice = BrokerAdvice(list: list, files: house, gaps: try house.gaps(list))
    let (steps, addition) = try advice.steps()
    #expect(steps.first?.lines == [denial] && steps.first?.what.contains("nodered") == true)
    #expect(steps.dropFirst().first?.lines.first?.contains("--append") == true)
    let after = try self.house(
      list: "user nodered\ntopic read #\ntopic deny threadkeeper/out/#\n" + wanted.text() + (addition ?? ""))
    #expect(try after.gaps(list).filter { !$0.isExcess } == [])
  }

  @Test("Of a pattern for everybody only the pattern is to go") func pattern() throws {
    let house = try house(list: "pattern readwrite #\n" + (try wanted.text()))
    let (steps, list) = try advice(house).steps()
    #expect(steps.flatMap(\.lines) == ["pattern readwrite #", "sudo systemctl restart mosquitto"])
    #expect(steps.first?.what.contains("pattern") == true && list == nil)
  }

  @Test("The lines that are to go are named also with a name in them, and only those that give it") func named() throws
  {
    let pattern = "pattern readwrite threadkeeper/in/%c/#"
    let house = try house(list: wanted.text() + "\(pattern)\npattern read threadkeeper/bridge/state\n")
    #expect(try lines(advice(house)) == [pattern, "sudo systemctl restart mosquitto"])

    let own = "user nodered\ntopic write threadkeeper/in/+/announce\ntopic read threadkeeper/in\n"
    #expect(
      try lines(advice(self.house(list: wanted.text() + own))) == [
        "topic write threadkeeper/in/+/announce", "sudo systemctl restart mosquitto",
      ])
  }

  @Test("Lines of clients without a login are denied threadkeeper's topics where they stand") func anonymousLines()
    throws
  {
    let house = try house(list: "topic readwrite #\n" + (try wanted.text()), anonymous: true)
    #expect(try lines(advice(house)) == ["topic deny threadkeeper/#", "sudo systemctl restart mosquitto"])
  }

  @Test("Where threadkeeper has no login, it is to get one, and no list is printed") func withoutLogin() throws {
    let (steps, list) = try advice(nil, isAnonymous: true).steps()
    #expect(steps.flatMap(\.lines) == ["threadkeeper setup --login threadkeeper"] && list == nil)
  }

  @Test("Of a broker elsewhere all is printed that it may need") func elsewhere() throws {
    let (steps, list) = try advice(nil, keepsAnonymous: true).steps()
    #expect(
      steps.flatMap(\.lines) == [
        "threadkeeper acl --keep-anonymous >threadkeeper.acl", "acl_file /etc/mosquitto/threadkeeper.acl",
        "persistence true", "max_queued_messages 1000000", "max_queued_bytes 67108864", "message_size_limit 1048576",
        "sudo systemctl restart mosquitto", "systemctl status mosquitto",
      ])
    #expect(list?.contains("user threadkeeper") == true)
  }

  @Test("With a list and no password file, the new file is named, and has the kept logins, too") func newPasswordFile()
    throws
  {
    let house = try house(list: "user nodered\ntopic readwrite #\n", logins: nil)
    let lines = try lines(advice(house, kept: ["nodered"]))
    let file = directory.file("threadkeeper.passwd")
    for line in [
      "sudo mosquitto_passwd -c \(file) threadkeeper", "sudo mosquitto_passwd \(file) nodered", "password_file \(file)",
      "sudo chown mosquitto: \(file)",
    ] { #expect(lines.contains(line), "\(lines)") }
  }
}
