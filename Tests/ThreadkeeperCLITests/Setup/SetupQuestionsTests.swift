// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Broker
import Settings
import Synchronization
import Testing
import ThreadkeeperDaemon

@testable import ThreadkeeperCLI

@Suite("The questions of setup")
struct SetupQuestionsTests {
  private let refused = MosquittoError(.credentials, "the broker refused the login")
  private let unreached = MosquittoError(.nothingListens, "nothing listens there")

  private func settings(_ text: String = "") throws -> Settings {
    try #require(
      SettingsLoader.load(
        text: text, as: "/x/threadkeeper.yaml", environment: [:], stateDirectory: "/x"
      ).settings)
  }

  private typealias Greeting = @Sendable (Settings.MQTT) async -> MosquittoError?

  private func questions(
    _ prompt: ScriptedPrompt, _ current: Settings, flags: [String] = [], isAsking: Bool = true,
    isFirst: Bool = true, given: String? = nil, known: String? = nil, making: String? = nil,
    running: CommandFailure? = nil, greet: @escaping Greeting = { _ in nil }
  ) throws -> SetupQuestions {
    SetupQuestions(
      flags: try SetupFlags.parse(flags), current: current, isFirst: isFirst, prompt: prompt,
      isAsking: isAsking, given: given.map { SecretText($0) },
      known: { _ in known.map { SecretText($0) } },
      checkDaemon: { _ in if let running { throw running } }, greet: greet,
      makingLogin: { _ in making })
  }

  /// `host:port`, and where there is TLS the authorities.
  private func broker(_ outcome: SetupQuestions.Outcome) -> String {
    let mqtt = outcome.settings.mqtt
    guard case .named(let host) = mqtt.host else { return "embedded" }
    return "\(host):\(mqtt.port)\(mqtt.tls.map { " \($0.caFile)" } ?? "")"
  }

  @Test("Enter takes the default in the brackets, and only the password is hidden")
  func defaults() async throws {
    let prompt = ScriptedPrompt("", "", "", "sesame", "", "")
    let outcome = try await questions(prompt, try settings()).run()
    #expect(
      prompt.questions == [
        .init(text: "Broker [127.0.0.1]: ", isHidden: false),
        .init(text: "Port [1883]: ", isHidden: false),
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

  @Test("Beside a daemon that will not keep the password, nobody is asked for it")
  func besideDaemon() async throws {
    let prompt = ScriptedPrompt("", "", "", "sesame", "", "")
    let failure = CommandFailure(.temporary, "threadkeeper runs with another broker")
    let beside = try questions(prompt, try settings(), running: failure)
    await #expect(throws: CommandFailure.self) { try await beside.run() }
    #expect(prompt.questions.map(\.text).last == "Login [threadkeeper]: ")
    // One that is stored needs nobody to keep it.
    let stored = try questions(
      ScriptedPrompt("", "", "", "", "", ""), try settings(), known: "sesame", running: failure)
    #expect(try await stored.run().password == SecretText("sesame"))
  }

  @Test("What is set already is the default, and nothing changes by pressing Enter")
  func again() async throws {
    let text = """
      mqtt: {host: broker.local, port: 1884, username: keeper}
      home_assistant: {discovery: off}
      http: {enabled: false}
      """
    let current = try settings(text)
    let prompt = ScriptedPrompt("", "", "", "", "", "")
    let outcome = try await questions(prompt, current, isFirst: false, known: "stored").run()
    #expect(prompt.left == 0)
    #expect(prompt.questions.contains { $0.text == "Password of keeper (Enter: the stored one): " })
    #expect(outcome.password == SecretText("stored"))
    #expect(SetupDraft.changes(current, to: outcome.settings) == [])
  }

  @Test("A wrong password is asked for again, three times, and then it may be saved or not")
  func wrongPassword() async throws {
    let refused = refused
    let greet: Greeting = { mqtt in
      mqtt.username == nil || mqtt.password?.revealed == "right" ? nil : refused
    }
    let second = ScriptedPrompt("", "", "", "wrong", "right", "", "")
    let outcome = try await questions(second, try settings(), greet: greet).run()
    #expect(outcome.password == SecretText("right") && outcome.problem == nil)
    #expect(second.shown.contains("the broker refused the login"))
    #expect(!second.shown.contains("wrong"))

    let never = ScriptedPrompt("", "", "", "a", "b", "c", "no")
    let failure = await #expect(throws: CommandFailure.self) {
      try await questions(never, try settings(), making: "Add it.", greet: greet).run()
    }
    #expect(failure?.status == .notPermitted && failure?.remedy?.contains("Add it.") == true)
    #expect(never.shown.contains("Add it."))

    // The login is none that the broker knows: it says how to make it, and Enter takes another.
    let other = ScriptedPrompt("", "", "kepeer", "wrong", "", "keeper", "right", "", "")
    let changed = try await questions(other, try settings(), greet: greet).run()
    #expect(changed.settings.mqtt.username == "keeper" && changed.problem == nil)
    #expect(other.shown.contains("sudo mosquitto_passwd PASSWORD_FILE kepeer"))

    let saved = ScriptedPrompt("", "", "", "a", "b", "c", "yes", "", "")
    let kept = try await questions(saved, try settings(), greet: greet).run()
    #expect(kept.problem == refused && kept.password == SecretText("c"))
  }

  @Test(
    "The port may stand behind the host, and is not asked for then",
    arguments: [
      ("a.local:1884", "a.local"), ("192.0.2.7:1884", "192.0.2.7"), ("[::1]:1884", "::1"),
    ])
  func hostWithPort(text: String, host: String) async throws {
    let prompt = ScriptedPrompt(text, "keeper", "pw", "", "")
    let outcome = try await questions(prompt, try settings()).run()
    #expect(broker(outcome) == "\(host):1884")
    #expect(outcome.settings.mqtt.username == "keeper" && prompt.left == 0)
    let failure = await #expect(throws: CommandFailure.self) {
      try await questions(
        ScriptedPrompt(), try settings(), flags: ["--broker", text, "--port", "1885"],
        isAsking: false
      ).run()
    }
    #expect(failure?.status == .usage)
  }

  @Test("A broker that is not reached can be corrected")
  func unreachedBroker() async throws {
    let unreached = unreached
    let greet: Greeting = {
      $0.host == .named("right.local") ? nil : unreached
    }
    let corrected = ScriptedPrompt("wrong.local", "", "right.local", "", "", "pw", "", "")
    let outcome = try await questions(corrected, try settings(), greet: greet).run()
    #expect(broker(outcome) == "right.local:1883")
    #expect(corrected.shown.contains("nothing listens there"))
  }

  @Test("8883 asks for the authorities; `none` is no TLS, and no login")
  func others() async throws {
    let tls = ScriptedPrompt("a.local", "8883", "/dev/null/none", "none", "none", "no", "no")
    let outcome = try await questions(tls, try settings()).run()
    #expect(broker(outcome) == "a.local:8883")
    #expect(outcome.settings.mqtt.username == nil && outcome.password == nil)
    #expect(!outcome.announces && !outcome.settings.http.isEnabled)
    #expect(tls.shown.contains("no such file"))

    let embedded = ScriptedPrompt("embedded", "", "")
    let own = try await questions(
      embedded, try settings(), flags: ["--base-topic", "home/thread"]
    ).run()
    #expect(broker(own) == "embedded" && own.settings.mqtt.baseTopic == "home/thread")
    #expect(embedded.left == 0)
  }

  @Test("Where clients without a login are refused, the login is asked for again, or it is 77")
  func refusedWithoutLogin() async throws {
    let refused = refused
    let greet: Greeting = { $0.username == nil ? refused : nil }
    let prompt = ScriptedPrompt("", "", "none", "keeper", "pw", "", "")
    let outcome = try await questions(prompt, try settings(), greet: greet).run()
    #expect(outcome.settings.mqtt.username == "keeper" && outcome.problem == nil)
    #expect(prompt.shown.contains(refused.message))
    let failure = await #expect(throws: CommandFailure.self) {
      try await questions(
        ScriptedPrompt(), try settings(), flags: ["--broker", "a.local", "--no-login"],
        isAsking: false, greet: greet
      ).run()
    }
    #expect(failure?.status == .notPermitted && failure?.remedy?.contains("--login") == true)
  }

  @Test("Settings without a login keep none")
  func againWithoutLogin() async throws {
    let current = try settings("mqtt: {host: 127.0.0.1}")
    for isAsking in [true, false] {
      let prompt = ScriptedPrompt("", "", "", "", "")
      let outcome = try await questions(prompt, current, isAsking: isAsking, isFirst: false).run()
      #expect(SetupDraft.changes(current, to: outcome.settings) == [])
      #expect(prompt.questions.contains { $0.text == "Login [none]: " } == isAsking)
    }
  }

  @Test(
    "TLS stays when the host changes; without it the password's way is named before it is asked")
  func tls() async throws {
    let file = "/proc/self/exe"
    let current = try settings("mqtt: {host: a.local, username: tk, tls: {ca_file: \(file)}}")
    let outcome = try await questions(
      ScriptedPrompt(), current, flags: ["--broker", "b.local"], isAsking: false, isFirst: false,
      given: "pw"
    ).run()
    #expect(broker(outcome) == "b.local:8883 \(file)")

    let far = ScriptedPrompt("b.local", "", "")
    _ = try? await questions(far, try settings()).run()
    #expect(far.shown.contains("The password goes to b.local"))
    #expect(far.questions.last?.isHidden == true)
    let near = ScriptedPrompt("", "", "")
    _ = try? await questions(near, try settings()).run()
    #expect(!near.shown.contains("The password goes to"))
  }

  @Test("Ctrl-D ends it at every question", arguments: 0..<6)
  func ended(answers: Int) async throws {
    let prompt =
      switch answers {
      case 0: ScriptedPrompt()
      case 1: ScriptedPrompt("")
      case 2: ScriptedPrompt("", "")
      case 3: ScriptedPrompt("", "", "")
      case 4: ScriptedPrompt("", "", "", "pw")
      default: ScriptedPrompt("", "", "", "pw", "")
      }
    await #expect(throws: CancellationError.self) {
      try await questions(prompt, try settings()).run()
    }
  }

  @Test("Without a terminal a missing option is wrong usage, with its name")
  func missing() async throws {
    for (flags, missing) in [
      ([], "--broker"), (["--broker", "a.local"], "--login"),
      (["--broker", "a.local", "--login", "keeper"], "--password-file"),
    ] {
      let failure = await #expect(throws: CommandFailure.self) {
        try await questions(ScriptedPrompt(), try settings(), flags: flags, isAsking: false).run()
      }
      #expect(failure?.status == .usage && failure?.message.contains(missing) == true, "\(flags)")
    }
    let prompt = ScriptedPrompt()
    let flags = [
      "--broker", "::1", "--login", "keeper", "--no-page", "--home-assistant-login", "ha",
    ]
    let all = try await questions(
      prompt, try settings(), flags: flags, isAsking: false, given: "pw"
    ).run()
    #expect(broker(all) == "::1:1883")
    #expect(all.settings.mqtt.username == "keeper" && all.announces && !all.settings.http.isEnabled)
    #expect(prompt.questions.isEmpty && prompt.shown.isEmpty)
  }

  @Test("Without a terminal nothing is written for a broker that refuses or is away")
  func refusedWithoutTerminal() async throws {
    for (error, status) in [(refused, ExitStatus.notPermitted), (unreached, .unavailable)] {
      let failure = await #expect(throws: CommandFailure.self) {
        try await questions(
          ScriptedPrompt(), try settings(), flags: ["--broker", "a.local", "--login", "keeper"],
          isAsking: false, given: "pw", greet: { _ in error }
        ).run()
      }
      #expect(failure?.status == status)
    }
    let unasked = try await questions(
      ScriptedPrompt(), try settings(),
      flags: ["--broker", "a.local", "--login", "keeper", "--no-validate"], isAsking: false,
      given: "pw",
      greet: { _ in MosquittoError(.system, "") }
    ).run()
    #expect(unasked.problem == nil)
  }

  @Test("What is wrong with an option is wrong usage")
  func wrongOptions() async throws {
    for flags in [["--broker", "a b"], ["--broker", "a.local", "--login", "a/b"]] {
      let failure = await #expect(throws: CommandFailure.self) {
        try await questions(ScriptedPrompt(), try settings(), flags: flags, isAsking: false).run()
      }
      #expect(failure?.status == .usage)
    }
    for flags in [
      ["--port", "0"], ["--no-login", "--login", "a"], ["--broker", "embedded", "--tls"],
    ] {
      #expect(throws: (any Error).self) { try SetupFlags.parse(flags) }
    }
  }
}

extension SetupQuestions.Outcome {
  fileprivate var announces: Bool { settings.homeAssistant.discovery == .on }
}
