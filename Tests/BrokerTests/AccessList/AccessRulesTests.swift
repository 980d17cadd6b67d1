import Broker
import Testing

@Suite("What an access list allows") struct AccessRulesTests {
  private func wanted(_ change: (inout AccessList) -> Void = { _ in }) -> AccessList {
    var list = AccessList(baseTopics: ["threadkeeper"], daemons: ["threadkeeper"])
    change(&list)
    return list
  }

  private func gaps(_ text: String, of wanted: AccessList? = nil, logins: [String] = [], anonymous: Bool = false) throws
    -> [AccessGap]
  {
    try (wanted ?? self.wanted()).gaps(
      in: AccessRules(text), logins: logins + ["threadkeeper"], allowsAnonymous: anonymous)
  }

  private func intruders(_ gaps: [AccessGap]) -> Set<AccessGap.Who> { Set(gaps.filter(\.isExcess).map(\.who)) }

  @Test("One filter stands for very many base topics of the same depth, and keeps logins apart") func merged() throws {
    let bases = (1...200).map { "flats/\($0)/tk" }
    #expect(AccessList.merged(bases) == ["flats/+/tk"])
    #expect(AccessList.merged(bases + ["house"]).count == 201, "a depth of its own")
    #expect(AccessList.merged(["a/1", "a/2"]) == ["a/1", "a/2"])
    var list = AccessList(baseTopics: AccessList.merged(bases), daemons: ["threadkeeper"])
    list.monitors = ["screen"]
    let rules = AccessRules(try list.text())
    for (user, access, topic, expected) in [
      ("threadkeeper", .write, "flats/7/tk/bridge/state", true),
      ("threadkeeper", .read, "flats/7/tk/in/hub/announce", true), ("hub", .write, "flats/7/tk/in/hub/announce", true),
      ("hub", .read, "flats/7/tk/out/hub/answer", true), ("hub", .write, "flats/7/tk/in/other/announce", false),
      ("hub", .read, "flats/7/tk/out/other/answer", false), ("hub", .write, "flats/7/tk/bridge/state", false),
      ("hub", .read, "flats/7/tk/router/1", false), ("screen", .read, "flats/7/tk/router/1", true),
      ("screen", .write, "flats/7/tk/in/screen/announce", false),
    ] as [(String, AccessRules.Access, String, Bool)] {
      #expect(rules.allows(user, access, topic) == expected, "\(user) \(access) \(topic)")
    }
  }

  @Test("A denial wins, then come the user's lines, then the patterns") func order() {
    let rules = AccessRules(
      """
      topic read news/#
      user anna
      topic readwrite #
        topic deny secret/#
      topic house/+/set

      user bob
      # not a rule
      pattern readwrite by/%u/#
      pattern write id/%c/x
      """)
    for (user, access, topic, expected) in [
      (nil, AccessRules.Access.read, "news/a", true), (nil, .write, "news/a", false), (nil, .read, "by//a", false),
      (nil, .write, "id/7/x", true), ("anna", .write, "any/thing", true), ("anna", .read, "secret/a", false),
      ("anna", .read, "$SYS/broker/uptime", false), ("bob", .write, "by/bob/a", true),
      ("bob", .write, "by/anna/a", false), ("bob", .read, "news/a", false), ("bob", .write, "house/a/set", false),
      ("eve", .read, "by/eve", true),
    ] as [(String?, AccessRules.Access, String, Bool)] {
      #expect(rules.allows(user, access, topic) == expected, "\(user ?? "-") \(access) \(topic)")
    }
  }

  @Test("The list of `acl` has no gaps, and neither has one that it was added to") func complete() throws {
    let list = try wanted { list in
      list.kept = ["lamps", "house", "boss"]
      list.monitors = ["house", "screen"]
      list.approvers = ["boss"]
      list.keepsAnonymous = true
    }.text()
    let logins = ["lamps", "house", "boss", "screen", "hub"]
    let roles = wanted { list in
      list.kept = ["house", "boss"]
      list.monitors = ["house", "screen"]
      list.approvers = ["boss"]
    }
    // A kept approver decides for nobody; it can publish where nobody acts.
    #expect(try gaps(list, of: roles, logins: logins, anonymous: true) == [])
    // The settings name it, and nobody says that the list is to have it.
    let named = wanted { $0.deciders = ["boss"] }
    #expect(try gaps(list, of: named, logins: logins, anonymous: true) == [])

    let added = wanted { list in
      list.kept = ["lamps", "house"]
      list.monitors = ["house"]
      list.isAddition = true
    }
    let addition = try added.text()
    let lamps = "user lamps\ntopic readwrite #\n\n"
    let house = "user house\ntopic read #\ntopic write house/#\n"
    #expect(try gaps(lamps + house + addition, of: added, logins: ["lamps", "house", "hub"]) == [])
    // It could write what it sees.
    let writer = try gaps(lamps + "user house\ntopic readwrite #\n" + addition, of: added)
    #expect(writer.map(\.who) == [.login("house")] && writer.allSatisfy(\.isOfStates))
    #expect(!addition.contains("readwrite #"))
    // A list may lack the end of its last line.
    #expect(try gaps("user lamps\ntopic read a" + addition) == [])
    let rules = AccessRules("user house\ntopic readwrite homeassistant/#\n" + addition)
    #expect(rules.allows("house", .read, "threadkeeper/bridge/state"))
    #expect(rules.allows("house", .write, "homeassistant/light/a"))
    #expect(!rules.allows("house", .write, "house/lamp"))
  }

  @Test("Who may speak for a router is named, and who lacks what") func gapsOfOthers() throws {
    let found = try gaps(
      "topic readwrite #\nuser nodered\ntopic readwrite #\nuser lamp\ntopic readwrite lamp/#\n",
      logins: ["nodered", "lamp", "hub"], anonymous: true)
    #expect(intruders(found) == [.withoutLogin, .login("nodered")])
    #expect(Set(found.filter { !$0.isExcess }.map(\.who)) == [.login("threadkeeper"), .everybody])
    let open = try gaps("pattern readwrite #\nuser lamp\ntopic readwrite #\n", logins: ["hub"])
    #expect(intruders(open) == [.everybody, .login("lamp")])
    let none = try wanted().gaps(in: .everything, logins: ["hub"], allowsAnonymous: true)
    #expect(intruders(none) == [.everybody, .withoutLogin] && none.allSatisfy(\.isExcess))
  }

  @Test(
    "A line that reaches others' topics of one kind only is too much, wherever the names stand",
    arguments: [
      ("user nodered\ntopic read threadkeeper/out/+/response/#", AccessGap.Who.login("nodered"), 1),
      ("user nodered\ntopic write threadkeeper/in/+/announce", .login("nodered"), 1),
      ("user nodered\ntopic read threadkeeper/out/+/dataset/set", .login("nodered"), 1),
      ("user nodered\ntopic write threadkeeper/in/hub/announce", .login("nodered"), 1),
      ("user nodered\ntopic +/in/+/request/ping\ntopic deny threadkeeper/in/hub/#", .login("nodered"), 2),
      ("user anna\ntopic write threadkeeper/in/+/announce", .login("anna"), 1),
      ("pattern read threadkeeper/out/hub/response/ping", .everybody, 1),
      ("pattern readwrite threadkeeper/in/%c/#", .everybody, 2),
    ]) func kinds(lines: String, who: AccessGap.Who, count: Int) throws
  {
    let wanted = wanted { $0.deciders = ["anna"] }
    let text = try wanted.text() + lines + "\n"
    let found = try gaps(text, of: wanted, logins: ["nodered", "hub"])
    #expect(intruders(found) == [who] && found.count == count, "\(found)")
    let reaching = found.flatMap { wanted.lines(behind: $0, in: AccessRules(text)) }
    #expect(Set(reaching) == [String(lines.split(separator: "\n").first { $0.contains("/") } ?? "")])
  }

  @Test(
    "Own topics, and what a denial covers, are no excess",
    arguments: [
      "user nodered\ntopic readwrite threadkeeper/in/nodered/#\ntopic read threadkeeper/out/nodered/#",
      "user nodered\ntopic readwrite threadkeeper/in/+/announce\ntopic deny threadkeeper/in/+/#",
      "user nodered\ntopic readwrite +/+/hub/#\ntopic deny threadkeeper/#",
      "user nodered\ntopic write threadkeeper/in/+\ntopic read other/out/#",
      "user anna\ntopic write threadkeeper/in/+/request/consent/approve", "pattern readwrite %c/in/%u/#",
    ]) func harmless(lines: String) throws
  {
    let wanted = wanted { $0.deciders = ["anna"] }
    #expect(try gaps(wanted.text() + lines + "\n", of: wanted, logins: ["nodered"]) == [])
  }

  @Test("A monitor and an approver have what the list gives them") func roles() throws {
    let roles = wanted { list in
      list.monitors = ["screen"]
      list.approvers = ["anna"]
    }
    #expect(try gaps(roles.text(), of: roles) == [])
    let lacking = try gaps(wanted().text() + "user anna\ntopic deny #\n", of: roles)
    #expect(lacking.contains { $0.who == .login("screen") && $0.access == .read })
    #expect(lacking.contains { $0.who == .login("anna") && $0.topic == "threadkeeper/in/anna/request/consent/approve" })
  }

  @Test("Whoever the settings let decide lacks it where the list denies it, though it has no role there")
  func deciders() throws {
    let decider = wanted { $0.deciders = ["anna", "screen"] }
    let list = try wanted { $0.monitors = ["screen"] }.text()
    let lacking = try gaps(list, of: decider)
    #expect(Set(lacking.map(\.who)) == [.login("screen")])
    #expect(
      lacking.map(\.topic)
        == ["alerts/confirm", "alerts/test", "consent/approve", "consent/ask", "consent/deny", "preferred/set"].map {
          "threadkeeper/in/screen/request/\($0)"
        })
    let rules = AccessRules(list)
    #expect(rules.denials(of: "screen", lacking[0].topic) == ["topic deny threadkeeper/in/screen/#"])
    #expect(rules.denials(of: "anna", "threadkeeper/in/anna/request/consent/approve") == [])
  }

  @Test("A gap says who, what and what follows from it") func words() throws {
    let lines = """
      user threadkeeper
      topic readwrite threadkeeper/#
      topic readwrite homeassistant/device/threadkeeper/+/config
      user hub
      topic read threadkeeper/out/#

      """
    #expect(
      AccessGap.words(try gaps(lines)) == [
        "the login `threadkeeper` may not read `$SYS/broker/version`, `homeassistant/status`",
        "a border router's login may not read `threadkeeper/out/…`; it may not write `threadkeeper/in/…`",
        "the login `hub` reads `threadkeeper/out/` of others, where network keys are sent",
      ])
  }

  @Test("Further spaces between the words of a line are no part of its filter") func spaces() throws {
    let rules = AccessRules("user nodered\ntopic readwrite   #\ntopic  deny  a/#  \n")
    #expect(rules.allows("nodered", .write, "threadkeeper/in/x/announce"))
    #expect(!rules.allows("nodered", .read, "a/b"))
    #expect(rules.lines(giving: "nodered", .read, "b/+") == ["topic readwrite   #"])
    #expect(rules.lines(giving: "nodered", .read, "a/+") == [])
    #expect(intruders(try gaps("user nodered\ntopic readwrite   #\n")) == [.login("nodered")])
  }
}

@Suite("Mosquitto's configuration") struct MosquittoOptionsTests {
  @Test("Files, logins and queues are found over several files") func files() {
    var options = MosquittoOptions()
    options.read(
      """
      # acl_file /not/this
      pid_file /run/mosquitto.pid
      include_dir /etc/mosquitto/conf.d
      """)
    #expect(options.allowsAnonymous && options.accessList == nil && !options.limitsMessages)
    #expect(options.listens(on: 1883) && !options.listens(on: 1884))
    #expect(options.includes == ["/etc/mosquitto/conf.d"])
    options.read(
      "listener 1885 127.0.0.1\nlistener 8883\n password_file  /etc/mosquitto/pass words \nacl_file\t/etc/mosquitto/own.acl\r\n"
        + "persistence true\nmax_queued_messages 5\nmessage_size_limit 65536\n")
    #expect(!options.allowsAnonymous && options.isPersistent && options.queueLimit == 5)
    #expect(options.limitsMessages)
    #expect(options.listens(on: 8883) && options.listens(on: 1885) && !options.listens(on: 1883))
    #expect(options.passwordFile == "/etc/mosquitto/pass words")
    #expect(options.accessList == "/etc/mosquitto/own.acl")
    options.read("allow_anonymous true\nper_listener_settings false\n")
    #expect(options.allowsAnonymous && !options.isPartial)
    for line in ["per_listener_settings true\n", "plugin /usr/lib/x.so\n"] {
      var partial = options
      partial.read(line)
      #expect(partial.isPartial)
    }
  }

  @Test("A password file has a name before each colon") func logins() {
    #expect(MosquittoOptions.logins(inPasswordFile: "anna:$7$x\n# no\n\nbob:$7$y:z\n:x\nodd") == ["anna", "bob"])
  }
}
