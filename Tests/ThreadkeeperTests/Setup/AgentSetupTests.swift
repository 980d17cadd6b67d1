import BorderRouterAgent
import Bridge
import Foundation
import Home
import Settings
import TestKit
import Testing
import ThreadkeeperSupport

@testable import Threadkeeper

@Suite("The agents that setup makes") struct AgentSetupTests {
  private static let token = "a-long-lived-token"
  private let root: TemporaryDirectory
  private let system: SystemPlaces
  private let fake: FakeHomeAssistant

  init() throws {
    root = try TemporaryDirectory()
    system = SystemPlaces(environment: [SystemPlaces.rootVariable: root.path])
    fake = try FakeHomeAssistant(token: Self.token)
  }

  private func settings(_ text: String = "mqtt: {host: 127.0.0.1, username: threadkeeper}") throws -> Settings {
    try #require(
      SettingsLoader.load(
        text: text, as: root.file("threadkeeper.yaml"), environment: [:], stateDirectory: root.file("state")
      ).settings)
  }

  /// No router answers unless one is named.
  private func setup(_ prompt: ScriptedPrompt?, _ flags: [String], token: String? = nil, system: SystemPlaces? = nil)
    throws -> AgentSetup
  {
    let routers =
      flags.contains("--openthread-url") ? [] : ["--openthread-url", "http://127.0.0.1:\(try UnusedPort.next())"]
    let all = flags + routers + ["--home-assistant-user", "\(getuid())", "--router-user", "\(getuid())"]
    let questions = SetupQuestions(
      flags: try SetupFlags.parse(all), current: try settings(), isFirst: false, prompt: prompt ?? ScriptedPrompt(),
      isAsking: prompt != nil, given: nil, known: { _ in nil }, checkDaemon: { _ in }, greet: { _ in nil },
      makingLogin: { _ in nil })
    return AgentSetup(questions: questions, system: system ?? self.system, token: token.map { SecretText($0) })
  }

  private var here: [String] { ["--home-assistant-url", fake.url] }

  private func makeDirectory(_ mode: Int = 0o750) throws {
    try FileManager.default.createDirectory(atPath: system.agentDirectory, withIntermediateDirectories: true)
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: system.agentDirectory)
  }

  private func place(_ agent: MachineAgent = .homeAssistant) -> AgentPlace { AgentPlace(agent, system) }

  private func failure(_ flags: [String], token: String? = nil, _ settings: Settings? = nil) async throws
    -> CommandFailure?
  {
    let setup = try setup(nil, flags, token: token)
    let settings = try settings ?? self.settings()
    return await #expect(throws: CommandFailure.self) { try await setup.plans(settings, logins: []) }
  }

  @Test("Where Home Assistant answers, it asks, and for a token that is not shown until one is taken") func asks()
    async throws
  {
    let prompt = ScriptedPrompt("", "wrong", Self.token)
    let (plans, reports) = try await setup(prompt, here).plans(settings(), logins: ["hub"])
    #expect(
      prompt.questions == [
        .init(text: "An agent for Home Assistant here? [yes]: ", isHidden: false),
        .init(text: "Token: ", isHidden: true), .init(text: "Token: ", isHidden: true),
      ])
    #expect(prompt.shown.contains("does not accept the token") && !prompt.shown.contains("wrong"))
    #expect(plans.map(\.login) == ["home-assistant"] && plans.first?.token == SecretText(Self.token))
    #expect(plans.first?.password.revealed.count == 24 && reports.isEmpty)
    #expect(!FileManager.default.fileExists(atPath: system.agentDirectory))
  }

  @Test("After a no there is none, and no token is asked for") func declines() async throws {
    let prompt = ScriptedPrompt("no")
    #expect(try await setup(prompt, here).plans(settings(), logins: []).plans.isEmpty)
    #expect(prompt.questions.count == 1 && fake.logins == 0)
  }

  @Test("Where nothing answers, or --no-agents says so, nobody is asked") func nothing() async throws {
    let prompt = ScriptedPrompt()
    let away = ["--home-assistant-url", "http://127.0.0.1:\(try UnusedPort.next())"]
    for flags in [away, here + ["--no-agents"]] {
      #expect(try await setup(prompt, flags).plans(settings(), logins: []).plans.isEmpty)
    }
    #expect(prompt.questions.isEmpty)
  }

  @Test("A script names the agent, or its token; without that there is none") func script() async throws {
    #expect(try await setup(nil, here).plans(settings(), logins: []).plans.isEmpty)
    let flags = here + ["--home-assistant-token-file", "-"]
    let plans = try await setup(nil, flags, token: Self.token).plans(settings(), logins: ["home-assistant"]).plans
    // That login is somebody else's.
    #expect(plans.map(\.login) == ["home-assistant-agent"])
  }

  @Test("A login that broker, settings or options name for somebody else is not the agent's") func taken() async throws
  {
    let settings = try settings(
      """
      mqtt: {host: broker.local, username: home-assistant}
      consent: {approvers: [home-assistant-agent]}
      home_assistant: {login: home-assistant-agent2}
      """)
    let flags = here + ["--agent", "home-assistant", "--keep", "home-assistant-agent3"]
    let plans = try await setup(nil, flags, token: Self.token).plans(settings, logins: ["home-assistant-agent4"]).plans
    #expect(plans.map(\.login) == ["home-assistant-agent5"])
  }

  @Test("A login is setup's with the agent's own key, or one that setup has enrolled, and not once it is revoked")
  func others() throws {
    func client(_ label: String) -> ClientReport {
      let enrolled = EnrolledClient(
        line: "tk1:a", fingerprint: "", trust: .signed, label: label, at: WireTime(milliseconds: 0), by: "test")
      return ClientReport(OfHome(home: "home", value: (ExactName("hub"), enrolled)))
    }
    func isOthers(_ label: String, _ line: String?, login: String = "hub") -> Bool {
      ListClients.Reply(clients: [client(label)], revoked: ["gone"]).isOthers(login, .homeAssistant, line)
    }
    #expect(isOthers("", "tk1:b") && isOthers("Anna's phone", nil) && isOthers("", "tk1:b", login: "gone"))
    #expect(isOthers(MachineAgent.openThread.label, "tk1:b"))
    #expect(!isOthers("", "tk1:a") && !isOthers(MachineAgent.homeAssistant.label, "tk1:b"))
    #expect(!isOthers("", "tk1:b", login: "other"))
  }

  @Test("What is wrong ends a script with its remedy") func troubles() async throws {
    let named = here + ["--agent", "home-assistant"]
    let missing = try await failure(named)
    #expect(missing?.status == .usage && missing?.message.contains("--home-assistant-token-file") == true)
    for token in ["wrong", "two words"] {
      let refused = try await failure(named, token: token)
      #expect(refused?.status == .notPermitted && refused?.remedy?.contains("nothing was written") == true, "\(token)")
    }
    let away = ["--home-assistant-url", "http://127.0.0.1:\(try UnusedPort.next())", "--agent", "home-assistant"]
    #expect(try await failure(away, token: Self.token)?.status == .unavailable)
    let plaintext = ["--home-assistant-url", "http://192.0.2.1:8123", "--agent", "home-assistant"]
    let refused = try await failure(plaintext, token: Self.token)
    #expect(refused?.status == .usage && refused?.remedy?.contains("--allow-plaintext") == true)
    // What answers there is no REST interface of a router.
    let other = try await failure(["--openthread-url", fake.url, "--agent", "openthread"])
    #expect(other?.status == .unavailable && other?.remedy?.contains("--openthread-url") == true)
    for settings in [try settings("mqtt: {host: embedded}"), try settings("mqtt: {host: 127.0.0.1}")] {
      let unnamed = try await failure(named, token: Self.token, settings)
      #expect(unnamed?.status == .unavailable && unnamed?.remedy?.contains("--broker") == true)
    }
  }

  @Test("Who is not root gets the command that root runs", .enabled(if: geteuid() != 0)) func notRoot() async throws {
    let machine = SystemPlaces(environment: [:])
    let prompt = ScriptedPrompt()
    let found = try await setup(prompt, here, system: machine).plans(settings(), logins: [])
    #expect(found.plans.isEmpty && prompt.questions.isEmpty)
    #expect(found.reports.first?.next == ["sudo threadkeeper setup --agent home-assistant"])
    let named = try setup(nil, here + ["--agent", "home-assistant"], token: Self.token, system: machine)
    let failure = await #expect(throws: CommandFailure.self) { try await named.plans(settings(), logins: []) }
    #expect(failure?.status == .notPermitted)
  }

  @Test("Options that a person has added stay, and an agent that setup has not made is left alone") func added()
    async throws
  {
    try makeDirectory()
    let plan = try #require(
      try await setup(ScriptedPrompt("", Self.token), here).plans(settings(), logins: []).plans.first)
    let mqtt = try settings().mqtt
    try place().write(options: plan.options(mqtt, daemon: "tk1:a"), (geteuid(), getegid()))
    #expect(place().isOfSetup && place().value(of: "--daemon") == "tk1:a")
    let text = try #require(place().text)
    try place().write(options: text.replacing("\"\n", with: " \\\n  --write --name Attic\"\n"), (geteuid(), getegid()))
    #expect(AgentPlace.added(to: place().text ?? "") == ["--write", "--name", "Attic"])
    #expect(
      plan.options(mqtt, daemon: "tk1:b").contains("--daemon tk1:b --key \(place().key) --write --name Attic\"\n"))

    // The person's own.
    try place().write(options: "AGENT_OPTIONS=\"--url \(fake.url)\"\n", (geteuid(), getegid()))
    let prompt = ScriptedPrompt()
    #expect(try await setup(prompt, here).plans(settings(), logins: []).plans.isEmpty && prompt.questions.isEmpty)
    #expect(try await failure(here + ["--agent", "home-assistant"], token: Self.token)?.status == .cannotCreate)
    #expect(UndoneAgent.all(system).isEmpty)
  }

  @Test("What is prepared without a daemon does not start, is kept, and is taken back") func prepared() async throws {
    let settings = try settings()
    let setup = try setup(nil, here + ["--agent", "home-assistant"], token: Self.token)
    let plan = try #require(try await setup.plans(settings, logins: []).plans.first)
    let work = try await setup.work(plan, settings)
    #expect(work.enrols && Set(work.files) == [place().options, place().key, place().password, place().token])
    try setup.prepare(work, settings)
    let report = try await setup.finish(work, settings)
    #expect(!report.enrolled && report.problem?.contains("not enrolled") == true)
    // A key without the daemon's line: the agent says that it is wrong usage.
    #expect(place().text?.contains("--daemon") == false && place().text?.contains("--key") == true)
    for file in [place().key, place().password, place().token] {
      let attributes = try FileManager.default.attributesOfItem(atPath: file)
      #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600, "\(file)")
    }
    let again = try #require(try await setup.plans(settings, logins: ["home-assistant"]).plans.first)
    #expect(again.login == "home-assistant" && again.password == plan.password)
    #expect(try await setup.work(again, settings).files == [place().options])

    var undone = UndoneAgent.all(system)
    #expect(undone.map(\.login) == ["home-assistant"] && undone.first?.files.count == 4)
    for index in undone.indices { try await undone[index].take(settings, system) }
    #expect(undone.first?.revoked == false && place().files.isEmpty)
  }

  @Test("A person's files stay, also where the agent of setup uses them") func own() async throws {
    let settings = try settings()
    try makeDirectory()
    try place().write(secret: SecretText("of-a-person"), to: place().password, (geteuid(), getegid()))
    let setup = try setup(nil, here + ["--agent", "home-assistant"], token: Self.token)
    let plan = try #require(try await setup.plans(settings, logins: []).plans.first)
    #expect(plan.password == SecretText("of-a-person"))
    try setup.prepare(try await setup.work(plan, settings), settings)
    let text = place().text
    #expect(text?.contains("\n# It has made: home-assistant.token home-assistant.key\n") == true, "\(text ?? "")")
    let made = [place().key, place().token]
    #expect(place().made == made)

    // One that is gone is made again, and is setup's from then on; the daemon's line stays.
    try FileManager.default.removeItem(atPath: place().password)
    try place().write(options: plan.options(settings.mqtt, daemon: "tk1:a"), (geteuid(), getegid()))
    let again = try #require(try await setup.plans(settings, logins: []).plans.first)
    try setup.prepare(try await setup.work(again, settings), settings)
    #expect(place().made == [place().key, place().password, place().token] && place().value(of: "--daemon") == "tk1:a")

    try place().write(options: plan.options(settings.mqtt, daemon: nil, made: made), (geteuid(), getegid()))
    var undone = UndoneAgent.all(system)
    for index in undone.indices { try await undone[index].take(settings, system) }
    #expect(try FileManager.default.contentsOfDirectory(atPath: system.agentDirectory) == ["home-assistant.password"])
  }

  @Test("Options in a directory that others can write count for nothing", arguments: [0o770, 0o757]) func unsafe(
    _ mode: Int
  ) async throws {
    try makeDirectory()
    let plan = try #require(
      try await setup(ScriptedPrompt("", Self.token), here).plans(settings(), logins: []).plans.first)
    try place().write(options: plan.options(settings().mqtt, daemon: nil), (geteuid(), getegid()))
    try makeDirectory(mode)
    let found = try await setup(ScriptedPrompt(), here).plans(settings(), logins: [])
    #expect(found.plans.isEmpty && found.reports.first?.problem?.contains("can be written by others") == true)
    #expect(found.reports.first?.next.first?.contains("chmod 750 \(system.agentDirectory)") == true)
    #expect(try await failure(here + ["--agent", "home-assistant"], token: Self.token)?.status == .notPermitted)
  }

  @Test("A directory of another user is not root's", .enabled(if: geteuid() == 0)) func ofAnotherUser() throws {
    try makeDirectory(0o700)
    #expect(place().foreign == nil)
    #expect(chown(system.agentDirectory, 65_534, getegid()) == 0 && place().foreign != nil)
  }

  @Test("Options that exclude each other are wrong usage") func excluded() {
    for flags in [
      ["--no-agents", "--agent", "openthread"], ["--no-agents", "--home-assistant-token-file", "f"],
      ["--password-file", "-", "--home-assistant-token-file", "-"], ["--agent", "ssid"],
    ] { #expect(throws: (any Error).self, "\(flags)") { try SetupFlags.parse(flags) } }
  }

  @Test("A backup knows the units of all agents") func units() {
    #expect(MachineAgent.allCases.allSatisfy { MachineFiles.unitNames.contains($0.unit) })
    #expect(MachineAgent.allCases.map(\.unit) == ["threadkeeper-agent-home-assistant", "threadkeeper-agent-otbr"])
  }
}
