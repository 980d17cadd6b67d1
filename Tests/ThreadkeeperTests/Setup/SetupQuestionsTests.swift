import ArgumentParser
import Broker
import Settings
import Synchronization
import Testing

@testable import Threadkeeper

@Suite("The questions of setup") struct SetupQuestionsTests {
  private let refused = MosquittoError(.credentials, "the broker refused the login")
  private let unreached = MosquittoError(.nothingListens, "nothing listens there")

  private func settings(_ text: String = "") throws -> Settings {
    try #require(
      SettingsLoader.load(text: text, as: "/x/threadkeeper.yaml", environment: [:], stateDirectory: "/x").settings)
  }

  private typealias Greeting = @Sendable (Settings.MQTT) async -> MosquittoError?

  /// - Parameter prompt: nil where there is no terminal.
  private func run(
    _ prompt: ScriptedPrompt?, _ current: Settings? = nil, flags: [String] = [], isFirst: Bool = true,
    given: String? = nil, known: String? = nil, making: String? = nil, running: CommandFailure? = nil,
    offered: OfferedBrokers = OfferedBrokers(), maker: LoginMaker = LoginMaker(obstacle: "it is elsewhere"),
    greet: @escaping Greeting = { _ in nil }
  ) async throws -> SetupQuestions.Outcome {
    let nobody = ScriptedPrompt()
    let outcome = try await SetupQuestions(
      flags: try SetupFlags.parse(flags), current: try current ?? settings(), isFirst: isFirst,
      prompt: prompt ?? nobody, isAsking: prompt != nil, given: given.map { SecretText($0) },
      known: { _ in known.map { SecretText($0) } }, checkDaemon: { _ in if let running { throw running } },
      greet: greet, makingLogin: { _ in making },
      offered: {
        if prompt == nil { Issue.record("nobody is there to choose") }
        return offered
      }, maker: { _ in maker }
    ).run()
    #expect(nobody.questions.isEmpty && nobody.shown.isEmpty)
    return outcome
  }

  /// How it ends without a terminal.
  private func failure(_ flags: [String], given: String? = nil, greet: @escaping Greeting = { _ in nil }) async
    -> CommandFailure?
  {
    await #expect(throws: CommandFailure.self, "\(flags)") {
      try await run(nil, flags: flags, given: given, greet: greet)
    }
  }

  /// `host:port`, and where there is TLS the authorities.
  private func broker(_ outcome: SetupQuestions.Outcome) -> String {
    let mqtt = outcome.settings.mqtt
    guard case .named(let host) = mqtt.host else { return "embedded" }
    return "\(host):\(mqtt.port)\(mqtt.tls.map { " \($0.caFile)" } ?? "")"
  }

  @Test("Enter takes the default in the brackets, and only the password is hidden") func defaults() async throws {
    let prompt = ScriptedPrompt("", "", "", "sesame", "", "")
    let outcome = try await run(prompt)
    #expect(
      prompt.questions == [
        .init(text: "Broker [127.0.0.1]: ", isHidden: false), .init(text: "Port [1883]: ", isHidden: false),
        .init(text: "Login [threadkeeper]: ", isHidden: false),
        .init(text: "Password of threadkeeper: ", isHidden: true),
        .init(text: "Announce them to Home Assistant? [yes]: ", isHidden: false),
        .init(text: "Serve the status page? [yes]: ", isHidden: false),
      ])
    #expect(broker(outcome) == "127.0.0.1:1883")
    #expect(outcome.settings.mqtt.username == "threadkeeper")
    #expect(outcome.announces && outcome.settings.http.isEnabled)
    #expect(outcome.password == SecretText("sesame") && outcome.problem == nil)
  }

  @Test("The page is opened to the network by an answer or an option, and stays so") func page() async throws {
    let open = try await run(ScriptedPrompt("embedded", "", "home"))
    #expect(PageReach(open.settings.http) == .home)
    let flags = ["--broker", "embedded", "--open-page"]
    #expect(PageReach(try await run(nil, flags: flags).settings.http) == .home)
    let again = ScriptedPrompt("", "", "")
    #expect(try await run(again, open.settings, isFirst: false).settings.http == open.settings.http)
    #expect(again.questions.last?.text == "Serve the status page? [home]: ")
    for (flag, reach) in [("--page", .home), ("--no-open-page", .yes), ("--no-page", .no)] as [(String, PageReach)] {
      let outcome = try await run(nil, open.settings, flags: ["--broker", "embedded", flag])
      #expect(PageReach(outcome.settings.http) == reach, "\(flag)")
    }
  }

  private static let brokers: [OfferedBrokers.Broker] = [
    .init(name: "mosquitto on pi.local", answer: "pi.local:1884"),
    .init(name: "the broker of Home Assistant \"Home\u{1B}\" on hub.local", answer: "192.0.2.7:1883"),
  ]

  @Test("Of brokers that answer, a number takes one, with its port; a name or an address stays as it is typed")
  func offers() async throws {
    let offered = OfferedBrokers(brokers: Self.brokers)
    for (typed, chosen) in [("1", "pi.local:1884"), ("2", "192.0.2.7:1883"), ("a.local:1885", "a.local:1885")] {
      let prompt = ScriptedPrompt(typed, "", "pw", "", "")
      #expect(broker(try await run(prompt, offered: offered)) == chosen && prompt.left == 0)
      #expect(prompt.questions.first?.text == "Broker [127.0.0.1]: ", "none of several is proposed")
      #expect(prompt.shown.contains("\n  1  mosquitto on pi.local (pi.local:1884)\n  2  the broker of"))
      #expect(!prompt.shown.contains("\u{1B}"))
    }
    let other = ScriptedPrompt("3", "0", "embedded", "", "")
    #expect(broker(try await run(other, offered: offered)) == "embedded")
    #expect(other.shown.contains("no host name"))
    _ = try await run(nil, flags: ["--broker", "a.local", "--login", "tk"], given: "pw", offered: offered)
    let named = ScriptedPrompt("", "pw", "", "", "")
    _ = try await run(named, flags: ["--broker", "a.local:1883"], offered: offered)
    #expect(!named.shown.contains("mosquitto on"))
  }

  @Test("Enter never takes one of the network, not the only one either; what cannot be looked at is said in a line")
  func proposed() async throws {
    let offered = OfferedBrokers(brokers: [Self.brokers[0]])
    let before = try settings("mqtt: {host: broker.local, username: keeper}")
    let again = ScriptedPrompt("", "", "", "pw", "", "")
    #expect(broker(try await run(again, before, isFirst: false, offered: offered)) == "broker.local:1883")
    #expect(broker(try await run(ScriptedPrompt("", "", "", "pw", "", ""), offered: offered)) == "127.0.0.1:1883")
    let blind = ScriptedPrompt("", "", "", "pw", "", "")
    _ = try await run(blind, offered: OfferedBrokers(obstacle: "avahi-daemon does not answer."))
    #expect(blind.shown.contains("Brokers of your network are not looked for: avahi-daemon does not answer.\n"))
  }

  @Test("A login that setup may make needs no password and no try") func makesLogin() async throws {
    var maker = LoginMaker(obstacle: "")
    (maker.obstacle, maker.lacksLogin) = (nil, true)
    let prompt = ScriptedPrompt("", "", "", "", "", "")
    let greet: Greeting = { [refused] _ in refused }
    let outcome = try await run(prompt, maker: maker, greet: greet)
    #expect(prompt.questions.map(\.text).contains("Make the login and the access list? [yes]: "))
    #expect(!prompt.questions.contains { $0.isHidden })
    #expect(outcome.makesLogin && outcome.password?.revealed.count == 24)

    let own = try await run(ScriptedPrompt("", "", "", "no", "sesame", "", ""), maker: maker)
    #expect(!own.makesLogin && own.password == SecretText("sesame"))
    // A script says so, and may bring a password.
    for (flags, isMade) in [([], false), (["--make-login"], true)] as [([String], Bool)] {
      let outcome = try await run(nil, flags: ["--broker", "b", "--login", "tk"] + flags, given: "given", maker: maker)
      #expect(outcome.makesLogin == isMade && outcome.password == SecretText("given"))
    }
    // Nobody is asked where nothing differs.
    maker.isNeeded = false
    let done = ScriptedPrompt("", "", "", "sesame", "", "")
    #expect(try await run(done, maker: maker).makesLogin == false)
    let failure = await #expect(throws: CommandFailure.self) {
      try await run(nil, flags: ["--broker", "b", "--login", "tk", "--make-login"], given: "given")
    }
    #expect(failure?.status == .usage && failure?.message.contains("it is elsewhere") == true)
  }

  @Test("Beside a daemon that will not keep the password, nobody is asked for it") func besideDaemon() async throws {
    let prompt = ScriptedPrompt("", "", "", "sesame", "", "")
    let failure = CommandFailure(.temporary, "threadkeeper runs with another broker")
    await #expect(throws: CommandFailure.self) { try await run(prompt, running: failure) }
    #expect(prompt.questions.map(\.text).last == "Login [threadkeeper]: ")
    // One that is stored needs nobody to keep it.
    let stored = try await run(ScriptedPrompt("", "", "", "", "", ""), known: "sesame", running: failure)
    #expect(stored.password == SecretText("sesame"))
  }

  @Test("What is set already is the default, and nothing changes by pressing Enter") func again() async throws {
    let text = """
      mqtt: {host: broker.local, port: 1884, username: keeper}
      home_assistant: {discovery: off}
      http: {enabled: false}
      """
    let current = try settings(text)
    let prompt = ScriptedPrompt("", "", "", "", "", "")
    let outcome = try await run(prompt, current, isFirst: false, known: "stored")
    #expect(prompt.left == 0)
    #expect(prompt.questions.contains { $0.text == "Password of keeper (Enter: the stored one): " })
    #expect(outcome.password == SecretText("stored"))
    #expect(SetupDraft.changes(current, to: outcome.settings) == [])
  }

  @Test("A wrong password is asked for again, three times, and then it may be saved or not") func wrongPassword()
    async throws
  {
    let refused = refused
    let greet: Greeting = { mqtt in mqtt.username == nil || mqtt.password?.revealed == "right" ? nil : refused }
    let second = ScriptedPrompt("", "", "", "wrong", "right", "", "")
    let outcome = try await run(second, greet: greet)
    #expect(outcome.password == SecretText("right") && outcome.problem == nil)
    #expect(second.shown.contains("the broker refused the login"))
    #expect(!second.shown.contains("wrong"))

    let never = ScriptedPrompt("", "", "", "a", "b", "c", "no")
    let failure = await #expect(throws: CommandFailure.self) { try await run(never, making: "Add it.", greet: greet) }
    #expect(failure?.status == .notPermitted && failure?.remedy?.contains("Add it.") == true)
    #expect(never.shown.contains("Add it."))

    // The login is none that the broker knows: it says how to make it, and Enter takes another.
    let other = ScriptedPrompt("", "", "kepeer", "wrong", "", "keeper", "right", "", "")
    let changed = try await run(other, greet: greet)
    #expect(changed.settings.mqtt.username == "keeper" && changed.problem == nil)
    #expect(other.shown.contains("sudo mosquitto_passwd PASSWORD_FILE kepeer"))

    let saved = ScriptedPrompt("", "", "", "a", "b", "c", "yes", "", "")
    let kept = try await run(saved, greet: greet)
    #expect(kept.problem == refused && kept.password == SecretText("c"))
  }

  @Test(
    "The port may stand behind the host, and is not asked for then",
    arguments: [("a.local:1884", "a.local"), ("192.0.2.7:1884", "192.0.2.7"), ("[::1]:1884", "::1")]) func hostWithPort(
      text: String, host: String
    ) async throws
  {
    let prompt = ScriptedPrompt(text, "keeper", "pw", "", "")
    let outcome = try await run(prompt)
    #expect(broker(outcome) == "\(host):1884")
    #expect(outcome.settings.mqtt.username == "keeper" && prompt.left == 0)
    #expect(await failure(["--broker", text, "--port", "1885"])?.status == .usage)
  }

  @Test("A broker that is not reached can be corrected") func unreachedBroker() async throws {
    let unreached = unreached
    let greet: Greeting = { $0.host == .named("right.local") ? nil : unreached }
    let corrected = ScriptedPrompt("wrong.local", "", "right.local", "", "", "pw", "", "")
    let outcome = try await run(corrected, greet: greet)
    #expect(broker(outcome) == "right.local:1883")
    #expect(corrected.shown.contains("nothing listens there"))
  }

  @Test("8883 asks for the authorities; `none` is no TLS, and no login") func others() async throws {
    let tls = ScriptedPrompt("a.local", "8883", "/dev/null/x", "none", "none", "no", "no")
    let outcome = try await run(tls)
    #expect(broker(outcome) == "a.local:8883")
    #expect(outcome.settings.mqtt.username == nil && outcome.password == nil)
    #expect(!outcome.announces && !outcome.settings.http.isEnabled)
    #expect(tls.shown.contains("no such file"))

    let embedded = ScriptedPrompt("embedded", "", "")
    let own = try await run(embedded, flags: ["--base-topic", "home/thread"])
    #expect(broker(own) == "embedded" && own.settings.mqtt.baseTopic == "home/thread")
    #expect(embedded.left == 0)
    // What is left of another broker's port is not taken.
    let back = try await run(nil, outcome.settings, flags: ["--broker", "embedded"])
    #expect(back.settings.mqtt.port == SetupQuestions.privatePort)
  }

  @Test("Where clients without a login are refused, the login is asked for again, or it is 77")
  func refusedWithoutLogin() async throws {
    let refused = refused
    let greet: Greeting = { $0.username == nil ? refused : nil }
    let prompt = ScriptedPrompt("", "", "none", "keeper", "pw", "", "")
    let outcome = try await run(prompt, greet: greet)
    #expect(outcome.settings.mqtt.username == "keeper" && outcome.problem == nil)
    #expect(prompt.shown.contains(refused.message))
    let flags = ["--broker", "a.local", "--no-login"]
    let failure = await failure(flags, greet: greet)
    #expect(failure?.status == .notPermitted && failure?.remedy?.contains("--login") == true)
  }

  @Test("Settings without a login keep none") func againWithoutLogin() async throws {
    let current = try settings("mqtt: {host: 127.0.0.1}")
    let prompt = ScriptedPrompt("", "", "", "", "")
    for prompt in [prompt, nil] {
      let outcome = try await run(prompt, current, isFirst: false)
      #expect(SetupDraft.changes(current, to: outcome.settings) == [])
    }
    #expect(prompt.questions.contains { $0.text == "Login [none]: " })
  }

  @Test("TLS stays when the host changes; without it the password's way is named before it is asked") func tls()
    async throws
  {
    let file = "/proc/self/exe"
    let current = try settings("mqtt: {host: a.local, username: tk, tls: {ca_file: \(file)}}")
    let outcome = try await run(nil, current, flags: ["--broker", "b.local"], isFirst: false, given: "pw")
    #expect(broker(outcome) == "b.local:8883 \(file)")

    let far = ScriptedPrompt("b.local", "", "")
    _ = try? await run(far)
    #expect(far.shown.contains("The password goes to b.local"))
    #expect(far.questions.last?.isHidden == true)
    let near = ScriptedPrompt("", "", "")
    _ = try? await run(near)
    #expect(!near.shown.contains("The password goes to"))
  }

  @Test("Ctrl-D ends it at every question", arguments: 0..<6) func ended(answers: Int) async throws {
    let prompt = ScriptedPrompt(Array(["", "", "", "pw", ""].prefix(answers)))
    await #expect(throws: CancellationError.self) { try await run(prompt) }
  }

  @Test("Without a terminal a missing option is wrong usage, with its name") func missing() async throws {
    for (flags, missing) in [
      ([], "--broker"), (["--broker", "a.local"], "--login"),
      (["--broker", "a.local", "--login", "keeper"], "--password-file"),
    ] {
      let failure = await failure(flags)
      #expect(failure?.status == .usage && failure?.message.contains(missing) == true, "\(flags)")
    }
    let flags = ["--broker", "::1", "--login", "keeper", "--no-page", "--home-assistant-login", "ha"]
    let all = try await run(nil, flags: flags, given: "pw")
    #expect(broker(all) == "::1:1883")
    #expect(all.settings.mqtt.username == "keeper" && all.announces && !all.settings.http.isEnabled)
  }

  @Test("Without a terminal nothing is written for a broker that refuses or is away") func refusedWithoutTerminal()
    async throws
  {
    let flags = ["--broker", "a.local", "--login", "keeper"]
    for (error, expected) in [(refused, ExitStatus.notPermitted), (unreached, .unavailable)] {
      #expect(await failure(flags, given: "pw", greet: { _ in error })?.status == expected)
    }
    let unasked = try await run(
      nil, flags: flags + ["--no-validate"], given: "pw", greet: { _ in MosquittoError(.system, "") })
    #expect(unasked.problem == nil)
  }

  @Test("What is wrong with an option is wrong usage") func wrongOptions() async throws {
    for flags in [["--broker", "a b"], ["--broker", "a.local", "--login", "a/b"]] {
      #expect(await failure(flags)?.status == .usage)
    }
    for flags in [["--port", "0"], ["--no-login", "--login", "a"], ["--broker", "embedded", "--tls"]] {
      #expect(throws: (any Error).self) { try SetupFlags.parse(flags) }
    }
  }
}

extension SetupQuestions.Outcome { fileprivate var announces: Bool { settings.homeAssistant.discovery == .on } }

/// Somebody who answers from a script. Ctrl-D when it is at its end.
final class ScriptedPrompt: Prompt {
  struct Question: Equatable {
    let text: String
    let isHidden: Bool
  }

  private let answers: Mutex<[String]>
  private let log = Mutex<(questions: [Question], shown: String)>(([], ""))

  init(_ answers: [String]) { self.answers = Mutex(answers) }

  convenience init(_ answers: String...) { self.init(answers) }

  var isPossible: Bool { true }
  var questions: [Question] { log.withLock { $0.questions } }
  var shown: String { log.withLock { $0.shown } }
  var left: Int { answers.withLock { $0.count } }

  func ask(_ question: String, isHidden: Bool) async throws -> String? {
    log.withLock { $0.questions.append(Question(text: question, isHidden: isHidden)) }
    return answers.withLock { $0.isEmpty ? nil : $0.removeFirst() }
  }

  func say(_ text: String) { log.withLock { $0.shown += text } }
}
