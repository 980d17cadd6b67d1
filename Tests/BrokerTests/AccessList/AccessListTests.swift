import Broker
import Foundation
import Testing

@Suite("The access list") struct AccessListTests {
  private func list(
    _ baseTopics: [String] = ["t"], daemon: String = "keeper", _ change: (inout AccessList) -> Void = { _ in }
  ) throws -> [String] {
    var list = AccessList(baseTopics: baseTopics, daemons: [daemon])
    change(&list)
    return try list.text().split(separator: "\n").map(String.init)
  }

  @Test("It has a line for each home and each kind of login") func lines() throws {
    let lines = try list(["threadkeeper", "flat/2"]) { list in
      list.monitors = ["screen"]
      list.approvers = ["anna"]
      list.kept = ["lamps"]
    }
    for line in [
      "user keeper", "topic readwrite threadkeeper/#", "topic readwrite flat/2/#", "topic read $SYS/broker/#",
      "topic read zigbee2mqtt/bridge/info", "topic read homeassistant/status",
      "topic readwrite homeassistant/device/threadkeeper/+/config", "user screen", "topic write homeassistant/status",
      "topic read homeassistant/device/threadkeeper/+/config", "topic read threadkeeper/alert/#",
      "topic read flat/2/router/#", "topic deny threadkeeper/in/screen/#", "topic deny flat/2/out/screen/#",
      "user anna", "topic read flat/2/bridge/#", "topic deny threadkeeper/in/anna/+",
      "topic deny flat/2/in/anna/request/credentials/#", "user lamps", "topic readwrite #", "topic read $SYS/#",
      "topic deny threadkeeper/#", "topic deny homeassistant/device/threadkeeper/+/config", "topic deny flat/2/#",
      "pattern write threadkeeper/in/%u/#", "pattern read threadkeeper/out/%u/#", "pattern write flat/2/in/%u/#",
    ] { #expect(lines.contains(line), "\(line) is missing in:\n\(lines.joined(separator: "\n"))") }
  }

  @Test("That of config/acl.conf is the one for a monitor") func shipped() throws {
    let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../config/acl.conf")
    let shipped = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(String.init)
    let made = try list(["threadkeeper"], daemon: "threadkeeper") { $0.monitors = ["monitor"] }
    #expect(shipped.filter { !$0.hasPrefix("#") } == made.filter { !$0.hasPrefix("#") })
  }

  private static func roles(_ change: (inout AccessList) -> Void = { _ in }) -> AccessList {
    var list = AccessList(baseTopics: ["t", "u"], daemons: ["keeper"])
    list.deciders = ["anna", "house"]
    list.kept = ["lamps", "house", "old boss"]
    list.monitors = ["house", "screen", "anna"]
    list.approvers = ["house", "anna"]
    list.keptWrites = ["house/#", "zigbee2mqtt/+/set"]
    list.keepsAnonymous = true
    change(&list)
    return list
  }

  private static func taken(_ text: String, deciders: [String] = ["anna", "house"]) -> AccessList? {
    var list = AccessList(baseTopics: ["v"], daemons: ["other keeper"])
    list.deciders = deciders
    return list.takeRoles(ofOwn: text) ? list : nil
  }

  @Test("A list that it has made is known again, with who is kept, sees and decides") func own() throws {
    for list in [Self.roles(), AccessList(baseTopics: ["t"], daemons: ["keeper"])] {
      let text = try list.text()
      for text in [text, text.replacing("\n", with: "\r\n"), "\n\(text)\n# The end.\n"] {
        let taken = try #require(Self.taken(text))
        #expect(taken.kept == list.kept && taken.keptWrites == list.keptWrites)
        #expect(Set(taken.monitors) == Set(list.monitors))
        #expect(Set(taken.approvers) == Set(list.approvers))
        #expect(taken.keepsAnonymous == list.keepsAnonymous)
        #expect(taken.baseTopics == ["v"] && taken.daemons == ["other keeper"])
      }
    }
    // What the settings do not name any more, does not decide; and the usual place needs no option.
    let fewer = try #require(Self.taken(try Self.roles { $0.keptWrites = [] }.text(), deciders: ["anna"]))
    #expect(fewer.approvers == ["anna"] && fewer.keptWrites == [])
  }

  @Test(
    "A list with a line that others wrote is not threadkeeper's own",
    arguments: [
      "user nodered\ntopic readwrite #\n", "topic deny cameras/#\n", "pattern readwrite devices/%u/#\n",
      "topic read house/#\nuser lamp\ntopic readwrite lamp/#\n",
    ]) func others(lines: String) throws
  {
    let own = try Self.roles().text()
    let mark = "# As before, but none"
    for text in [own + lines, lines + own, own.replacing(mark, with: "\(lines)\n\(mark)"), lines] {
      var list = AccessList(baseTopics: ["t"], daemons: ["keeper"])
      list.kept = ["a"]
      let isOwn = list.takeRoles(ofOwn: text)
      #expect(!isOwn && list.kept == ["a"] && !list.keepsAnonymous, "\(text)")
    }
    #expect(Self.taken("") == nil)
  }

  @Test("With another discovery prefix it names that one alone") func discoveryPrefix() throws {
    let lines = try list { list in
      list.discoveryPrefix = "other/ha"
      list.monitors = ["screen"]
    }
    for line in [
      "topic read other/ha/status", "topic readwrite other/ha/device/threadkeeper/+/config",
      "topic write other/ha/status", "topic read other/ha/device/threadkeeper/+/config",
    ] { #expect(lines.contains(line), "\(line)") }
    #expect(!lines.contains { $0.contains("homeassistant/") })
  }

  @Test("Clients without a login come first, where Mosquitto applies lines to nobody else") func anonymous() throws {
    let lines = try list { $0.keepsAnonymous = true }.filter { !$0.hasPrefix("#") }
    #expect(
      lines.prefix(4) == [
        "topic readwrite #", "topic read $SYS/#", "topic deny t/#",
        "topic deny homeassistant/device/threadkeeper/+/config",
      ])
    #expect(try list().filter { !$0.hasPrefix("#") }.first == "user keeper")
  }

  @Test("A kept login that is a monitor too sees all of threadkeeper but `in` and `out`, and writes nothing of it")
  func keptMonitor() throws {
    let lines = try list { list in
      list.kept = ["house"]
      list.monitors = ["house"]
    }
    #expect(lines.filter { $0 == "user house" }.count == 1)
    let denied = lines.filter { $0.hasPrefix("topic deny") }
    #expect(denied == ["topic deny t/in/#", "topic deny t/out/#"])
    #expect(lines.contains("topic read #") && lines.contains("topic write homeassistant/#"))
    #expect(!lines.contains("topic readwrite #"))
  }

  @Test("Where a kept monitor publishes is named, and never below a base topic") func keptWrites() throws {
    func lines(_ writes: String...) throws -> [String] {
      try list(["t", "flat/2"]) { list in (list.kept, list.monitors, list.keptWrites) = (["house"], ["house"], writes) }
    }
    let named = try lines("zigbee2mqtt/#", "flat/1/set", "lamps/+/set")
    #expect(
      named.filter { $0.hasPrefix("topic write") } == [
        "topic write homeassistant/status", "topic write zigbee2mqtt/#", "topic write flat/1/set",
        "topic write lamps/+/set",
      ])
  }

  @Test(
    "A filter that reaches the daemon's topics is refused, and so is what is none",
    arguments: [
      "#", "t/#", "+/#", "t", "t/router/+", "flat/#", "flat/+/x", "+/2", "+/+/set", "a#", "a\nuser b", " t/#",
      "lamps/# ",
    ]) func refusedWrites(filter: String)
  {
    #expect(throws: AccessListError.self) {
      try list(["t", "flat/2"]) { list in (list.kept, list.monitors, list.keptWrites) = (["house"], ["house"], [filter])
      }
    }
  }

  @Test(
    "A user name that reaches into another's topics, or breaks the list, is refused with a reason",
    arguments: [
      ("a/request", "for `a`"), ("a+", "wildcards"), ("#", "wildcards"), ("", "empty"), ("a:b", "password file"),
      ("a\ntopic readwrite #", "control"), (" a", "spaces"), ("a/\u{301}", "for `a`"), ("a+\u{301}", "wildcards"),
      ("a:\u{301}", "password file"), ("..", "directory"),
    ]) func refusedNames(name: String, why: String) throws
  {
    for role in [\AccessList.monitors, \.approvers, \.daemons] {
      let error = try #require(throws: AccessListError.self) { try list { $0[keyPath: role] = [name] } }
      #expect(error.message.contains(why))
    }
  }

  @Test("A kept login may have any name that fits into a line: its topics do not depend on it") func keptNames() throws
  {
    for name in ["me+lamps@example.org", "zigbee/2", "a b", ".."] {
      #expect(try list { $0.kept = [name] }.contains("user \(name)"))
    }
    for name in ["", "a:b", "a\ntopic readwrite #", "a "] {
      #expect(throws: AccessListError.self) { try list { $0.kept = [name] } }
    }
  }

  @Test(
    "The login of threadkeeper itself is refused in another role, and one that is named twice is one",
    arguments: [\AccessList.monitors, \.approvers, \.kept]) func sameLogin(
      role: WritableKeyPath<AccessList, [String]> & Sendable
    ) throws
  {
    let error = try #require(throws: AccessListError.self) {
      try list(daemon: "tk") { $0[keyPath: role] = ["screen", "tk"] }
    }
    #expect(error.message.contains("threadkeeper's own login"))
    #expect(try list { $0[keyPath: role] = ["screen", "screen"] } == list { $0[keyPath: role] = ["screen"] })
  }

  @Test("A kept approver is denied all of `in` but its own decisions, and what others decide") func keptApprover()
    throws
  {
    func denied(_ change: (inout AccessList) -> Void) throws -> [String] {
      let lines = try list { list in
        list.kept = ["house"]
        list.approvers = ["house", "anna"]
        list.deciders = ["anna", "house", "bob"]
        change(&list)
      }
      let start = try #require(lines.firstIndex(of: "user house"))
      let section = lines[start...].dropFirst().prefix { $0.hasPrefix("topic") }
      let first = ["topic read #", "topic read $SYS/#", "topic write homeassistant/#"]
      #expect(Array(section.prefix(3)) == first)
      return section.dropFirst(3).map { $0.replacing("topic deny ", with: "") }
    }
    let below = [
      "t/out/#", "t/in", "t/in/+", "t/in/+/+", "t/in/+/request/+", "t/in/+/request/alerts/list/#",
      "t/in/+/request/credentials/#", "t/in/+/request/network/#", "t/in/+/request/networks/#",
      "t/in/+/request/preferred/available/#", "t/in/+/request/preferred/check/#", "t/in/+/request/preferred/forget/#",
      "t/in/+/request/preferred/get/#", "t/in/+/request/routers/#", "t/in/+/request/alerts/+/+/#",
      "t/in/+/request/consent/pending/#", "t/in/+/request/consent/+/+/#", "t/in/+/request/preferred/set/+/#",
      "t/in/anna/#", "t/in/bob/#",
    ]
    #expect(try denied { $0.monitors = ["house"] } == below)
    let devices = "homeassistant/device/threadkeeper/+/config"
    #expect(try denied { _ in } == [devices, "t/alert/#", "t/network/#", "t/router/#"] + below)
    #expect(throws: AccessListError.self) { try self.list { $0.deciders = ["a/b"] } }
  }
}
