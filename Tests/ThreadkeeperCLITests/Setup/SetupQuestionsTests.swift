// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import MosquittoClient
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

  private func questions(
    _ prompt: ScriptedPrompt, _ current: Settings, flags: [String] = [], isAsking: Bool = true,
    takesDefaults: Bool = false, isAdvanced: Bool = false, isFirst: Bool = true,
    given: String? = nil, known: String? = nil, unknownLogin: String? = nil,
    greet: @escaping SetupQuestions.Greeting = { _, _, _ in nil }
  ) throws -> SetupQuestions {
    SetupQuestions(
      flags: try SetupFlags.parse(flags), current: current, isFirst: isFirst, prompt: prompt,
      isAsking: isAsking, takesDefaults: takesDefaults, isAdvanced: isAdvanced,
      given: given.map { SecretText($0) }, known: { _, _ in known.map { SecretText($0) } },
      greet: greet, unknownLogin: { _, _ in unknownLogin })
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
    #expect(outcome.answers.broker == .own(host: "127.0.0.1", port: 1883, caFile: nil))
    #expect(outcome.answers.username == "threadkeeper" && outcome.answers.hasNewPassword)
    #expect(outcome.answers.homeAssistant && outcome.answers.page)
    #expect(outcome.password == SecretText("sesame") && outcome.problem == nil)
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
    #expect(outcome.answers.changes(to: current, isNew: false) == [])
  }

  @Test("A wrong password is asked for again, three times, and then it may be saved or not")
  func wrongPassword() async throws {
    let refused = refused
    let greet: SetupQuestions.Greeting = { _, user, password in
      user == nil || password?.revealed == "right" ? nil : refused
    }
    let second = ScriptedPrompt("", "", "", "wrong", "right", "", "")
    let outcome = try await questions(second, try settings(), greet: greet).run()
    #expect(outcome.password == SecretText("right") && outcome.problem == nil)
    #expect(second.shown.contains("the broker refused the login"))
    #expect(!second.shown.contains("wrong"))

    let never = ScriptedPrompt("", "", "", "a", "b", "c", "no")
    let failure = await #expect(throws: CommandFailure.self) {
      try await questions(never, try settings(), unknownLogin: "Add it.", greet: greet).run()
    }
    #expect(failure?.status == .notPermitted && failure?.remedy?.contains("Add it.") == true)
    #expect(never.shown.contains("Add it."))

    // The login is none that the broker knows: it says how to make it, and Enter takes another.
    let other = ScriptedPrompt("", "", "kepeer", "wrong", "", "keeper", "right", "", "")
    let changed = try await questions(other, try settings(), greet: greet).run()
    #expect(changed.answers.username == "keeper" && changed.problem == nil)
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
    #expect(outcome.answers.broker == .own(host: host, port: 1884, caFile: nil))
    #expect(outcome.answers.username == "keeper" && prompt.left == 0)
    let failure = await #expect(throws: CommandFailure.self) {
      try await questions(
        ScriptedPrompt(), try settings(), flags: ["--broker", text, "--port", "1885"],
        isAsking: false
      ).run()
    }
    #expect(failure?.status == .usage)
  }

  @Test("A broker that is not reached can be corrected, or saved when it is answered twice")
  func unreachedBroker() async throws {
    let unreached = unreached
    let greet: SetupQuestions.Greeting = { broker, _, _ in
      if case .own("right.local", _, _) = broker { nil } else { unreached }
    }
    let corrected = ScriptedPrompt("wrong.local", "", "right.local", "", "", "pw", "", "")
    let outcome = try await questions(corrected, try settings(), greet: greet).run()
    #expect(outcome.answers.broker == .own(host: "right.local", port: 1883, caFile: nil))
    #expect(corrected.shown.contains("nothing listens there"))

    let kept = ScriptedPrompt("wrong.local", "", "", "", "yes", "", "pw", "", "")
    let saved = try await questions(kept, try settings(), greet: greet).run()
    #expect(saved.answers.broker == .own(host: "wrong.local", port: 1883, caFile: nil))
    #expect(saved.problem == unreached && saved.password == SecretText("pw"))
  }

  @Test("8883 asks for the authorities; `none` is no TLS, and no login")
  func others() async throws {
    let tls = ScriptedPrompt("a.local", "8883", "/nonexistent", "none", "none", "no", "no")
    let outcome = try await questions(tls, try settings()).run()
    #expect(outcome.answers.broker == .own(host: "a.local", port: 8883, caFile: nil))
    #expect(outcome.answers.username == nil && outcome.password == nil)
    #expect(!outcome.answers.homeAssistant && !outcome.answers.page)
    #expect(tls.shown.contains("no such file"))

    let embedded = ScriptedPrompt("embedded", "home/thread", "", "")
    let own = try await questions(embedded, try settings(), isAdvanced: true).run()
    #expect(own.answers.broker == .embedded && own.answers.baseTopic == "home/thread")
    #expect(embedded.left == 0)
  }

  @Test("Where clients without a login are refused, the login is asked for again, or it is 77")
  func refusedWithoutLogin() async throws {
    let refused = refused
    let greet: SetupQuestions.Greeting = { _, user, _ in user == nil ? refused : nil }
    let prompt = ScriptedPrompt("", "", "none", "keeper", "pw", "", "")
    let outcome = try await questions(prompt, try settings(), greet: greet).run()
    #expect(outcome.answers.username == "keeper" && outcome.problem == nil)
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
      #expect(outcome.answers.changes(to: current, isNew: false) == [])
      #expect(prompt.questions.contains { $0.text == "Login [none]: " } == isAsking)
    }
  }

  @Test(
    "TLS stays when the host changes; without it the password's way is named before it is asked")
  func tls() async throws {
    let file = "/etc/passwd"
    let current = try settings("mqtt: {host: a.local, username: tk, tls: {ca_file: \(file)}}")
    let outcome = try await questions(
      ScriptedPrompt(), current, flags: ["--broker", "b.local"], isAsking: false, isFirst: false,
      given: "pw"
    ).run()
    #expect(outcome.answers.broker == .own(host: "b.local", port: 8883, caFile: file))

    let far = ScriptedPrompt("b.local", "", "")
    _ = try? await questions(far, try settings()).run()
    #expect(far.shown.contains("The password goes to b.local"))
    #expect(far.questions.last?.isHidden == true)
    let near = ScriptedPrompt("", "", "")
    _ = try? await questions(near, try settings()).run()
    #expect(!near.shown.contains("The password goes to"))
  }

  @Test("Authorities that the service cannot read are refused")
  func authorities() async throws {
    var given = try questions(
      ScriptedPrompt(), try settings(), flags: ["--broker", "a.local", "--ca-file", "/etc/passwd"],
      isAsking: false)
    given.authorityProblem = { "no: \($0)" }
    let session = given
    let failure = await #expect(throws: CommandFailure.self) { try await session.run() }
    #expect(failure?.status == .usage && failure?.message == "no: /etc/passwd")
    let typed = ScriptedPrompt("a.local", "8883", "/etc/passwd", "none")
    var asking = try questions(typed, try settings())
    asking.authorityProblem = { "no: \($0)" }
    let other = asking
    await #expect(throws: CancellationError.self) { try await other.run() }
    #expect(typed.shown.contains("no: /etc/passwd") && typed.left == 0)
    for path in ["/nonexistent", "/root"] { #expect(!StoreOwner.canServiceRead(path)) }
    #expect(StoreOwner.canServiceRead("/etc/passwd"))
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
    #expect(all.answers.broker == .own(host: "::1", port: 1883, caFile: nil))
    #expect(all.answers.username == "keeper" && all.answers.homeAssistant && !all.answers.page)
    #expect(prompt.questions.isEmpty && prompt.shown.isEmpty)
  }

  @Test("Without a terminal nothing is written for a broker that refuses or is away")
  func refusedWithoutTerminal() async throws {
    for (error, status) in [(refused, ExitStatus.notPermitted), (unreached, .unavailable)] {
      let failure = await #expect(throws: CommandFailure.self) {
        try await questions(
          ScriptedPrompt(), try settings(), flags: ["--broker", "a.local", "--login", "keeper"],
          isAsking: false, given: "pw", greet: { _, _, _ in error }
        ).run()
      }
      #expect(failure?.status == status)
    }
    let unasked = try await questions(
      ScriptedPrompt(), try settings(),
      flags: ["--broker", "a.local", "--login", "keeper", "--no-validate"], isAsking: false,
      given: "pw",
      greet: { _, _, _ in MosquittoError(.system, "") }
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
