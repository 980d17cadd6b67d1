// SPDX-License-Identifier: Apache-2.0

import Glibc
import MosquittoClient
import Settings
import ThreadkeeperDaemon

/// Gathers the answers: from options, else by questions with a default in brackets, else it says which option is missing.
struct SetupQuestions: Sendable {
  static let tries = 3

  /// Tries a login at a broker.
  ///
  /// - Returns: why the broker does not let it in, or is not reached; nil when it does.
  typealias Greeting =
    @Sendable (_ broker: SetupAnswers.Broker, _ username: String?, _ password: SecretText?) async ->
    MosquittoError?

  let flags: SetupFlags
  let current: Settings
  /// Nothing was set up before: then the broker of the settings is nobody's choice.
  let isFirst: Bool
  let prompt: any LoginPrompt
  /// Whether there is a person who answers.
  let isAsking: Bool
  /// Whether every default is taken.
  let takesDefaults: Bool
  let isAdvanced: Bool
  /// From `--password-file`.
  let given: SecretText?
  /// A password that is stored for a login.
  let known: @Sendable (SetupAnswers.Broker, String) async -> SecretText?
  let greet: Greeting
  /// The command that makes a login at the broker; nil when it has that login, or that is not known.
  let unknownLogin: @Sendable (SetupAnswers.Broker, String) -> String?
  /// Why the daemon could not read a file of authorities that this user can; nil when it can.
  var authorityProblem: @Sendable (_ path: String) -> String? = { _ in nil }

  struct Outcome: Sendable {
    var answers: SetupAnswers
    var password: SecretText?
    /// Why the broker was not reached, or refused the login; it is to be saved all the same.
    var problem: MosquittoError?
  }

  func run() async throws -> Outcome {
    let (broker, unreached) = try await broker()
    var outcome = Outcome(
      answers: SetupAnswers(broker: broker, homeAssistant: true, page: true), problem: unreached)
    if broker != .embedded {
      let login = try await login(broker, unreached)
      outcome.answers.username = login.username
      outcome.answers.hasNewPassword =
        login.password != nil && login.password != current.mqtt.password
      outcome.password = login.password
      outcome.problem = login.problem
    }
    outcome.answers.baseTopic = try await baseTopic()
    outcome.answers.homeAssistant = try await decide(
      flags.homeAssistant ?? (flags.homeAssistantLogin == nil ? nil : true),
      why: "Home Assistant shows threadkeeper and each border router as devices, without any YAML.",
      "Announce them to Home Assistant", usual: current.homeAssistant.discovery == .on)
    outcome.answers.page = try await decide(
      flags.page, why: "A status page in the browser, on this machine only: no keys are on it.",
      "Serve the status page", usual: current.http.isEnabled)
    return outcome
  }

  // MARK: The broker

  private func broker() async throws -> (SetupAnswers.Broker, MosquittoError?) {
    var proposed: String
    switch current.mqtt.host {
    case .named(let name): proposed = name
    case .embedded: proposed = isFirst ? "127.0.0.1" : "embedded"
    }
    if flags.broker == nil, !isAsking, !takesDefaults, current.mqtt.host == .embedded {
      throw SetupFlags.missing("--broker")
    }
    var last: SetupAnswers.Broker?
    while true {
      let host = try await answer(
        flags.broker, usual: proposed,
        why:
          "The broker is where border routers and Home Assistant meet threadkeeper: the name or address of yours, or"
          + " `embedded` for a private one on this machine, to try things out.",
        "Broker"
      ) { Self.place($0) == nil ? "That is no host name or address." : nil }
      guard host != "embedded" else { return (.embedded, nil) }
      let (name, port) = Self.place(host) ?? (host, nil)
      if let port, let other = flags.port, port != other {
        throw CommandFailure(.usage, "`--broker \(host)` and `--port \(other)` name two ports")
      }
      let broker = try await connection(to: name, port: flags.port ?? port)
      guard !flags.noValidate else { return (broker, nil) }
      guard let error = await greet(broker, nil, nil), !error.isRefusal else {
        return (broker, nil)
      }
      let isSame = broker == last
      (proposed, last) = (name, broker)
      guard isAsking else { throw Self.unreached(error) }
      prompt.say("\n\(error.message.printable)\n")
      if isSame {
        let isKept = try await decide(
          nil, why: nil, "The same again. Save it although it is not reached", usual: false)
        if isKept { return (broker, error) }
      }
      guard flags.broker == nil else { throw Self.unreached(error) }
      prompt.say("Correct it, or press Enter to try the same again.\n")
    }
  }

  /// A host, and the port where one stands behind it, as in `broker.local:1883` and `[::1]:1883`. Nil for neither.
  private static func place(_ text: String) -> (host: String, port: UInt16?)? {
    if HostName.isFit(text) { return (text, nil) }
    guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]),
      port > 0
    else { return nil }
    var host = text[..<colon]
    if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
    return HostName.isFit(String(host)) ? (String(host), port) : nil
  }

  private func connection(to host: String, port given: UInt16?) async throws -> SetupAnswers.Broker
  {
    let isCurrent = current.mqtt.host == .named(host)
    // Of another host, too: TLS does not end because a name changes.
    let authority = flags.authority ?? current.mqtt.tls?.caFile
    if flags.authority != nil || !isAsking, let authority,
      let problem = authorityProblem(authority)
    {
      throw CommandFailure(.usage, problem)
    }
    let usual =
      isCurrent && flags.authority == nil ? current.mqtt.port : authority == nil ? 1883 : 8883
    let port = try await answer(
      given.map { "\($0)" }, usual: "\(usual)",
      why: "1883 is MQTT without TLS, 8883 with TLS.", "Port"
    ) { (UInt16($0) ?? 0) > 0 ? nil : "A port is a number from 1 to 65535." }
    let number = UInt16(port) ?? usual
    guard flags.authority == nil, authority != nil || number == 8883, isAsking else {
      return .own(host: host, port: number, caFile: authority)
    }
    while true {
      let file = try await answer(
        nil, usual: authority ?? SetupFlags.systemAuthorities,
        why: "Who may have signed the broker's certificate: a PEM file; `none` for no TLS.",
        "Authorities"
      ) {
        $0 == "none" || access(SetupFlags.absolute($0), R_OK) == 0
          ? nil : "There is no such file that can be read."
      }
      guard file != "none" else { return .own(host: host, port: number, caFile: nil) }
      let path = SetupFlags.absolute(file)
      guard let problem = authorityProblem(path) else {
        return .own(host: host, port: number, caFile: path)
      }
      prompt.say("\(problem)\n")
    }
  }

  static func unreached(_ error: MosquittoError) -> CommandFailure {
    CommandFailure(
      .unavailable, error.message,
      remedy: "nothing was written; --no-validate writes the settings without asking the broker")
  }

  // MARK: The rest

  private func baseTopic() async throws -> String? {
    guard flags.baseTopic == nil, isAdvanced, isAsking else { return flags.baseTopic }
    return try await answer(
      nil, usual: current.mqtt.baseTopic,
      why: "All topics of threadkeeper lie below this one; the access list has to name it.",
      "Base topic"
    ) { _ in nil }
  }

  /// - Parameter problem: what is wrong with an answer; nil when nothing is.
  func answer(
    _ flag: String?, usual: String, why: String?, _ question: String,
    _ problem: (String) -> String?
  ) async throws -> String {
    if let flag {
      guard let wrong = problem(flag) else { return flag }
      throw CommandFailure(.usage, "`\(flag)`: \(wrong)")
    }
    guard isAsking else { return usual }
    if let why {
      let lines = why.split(separator: "\n").flatMap { line in
        line.hasPrefix(" ") ? [String(line)] : TextWrap.lines(String(line), width: HelpText.width)
      }
      prompt.say("\n" + lines.map { $0 + "\n" }.joined())
    }
    while true {
      let text = try await prompt.ask("\(question) [\(usual.printable)]: ", isHidden: false)
      guard let text else { throw CancellationError() }
      let words = text.split(separator: " ").joined(separator: " ")
      guard !words.isEmpty else { return usual }
      guard let wrong = problem(words) else { return words }
      prompt.say("\(wrong)\n")
    }
  }

  func decide(_ flag: Bool?, why: String?, _ question: String, usual: Bool) async throws -> Bool {
    if let flag { return flag }
    guard isAsking else { return usual }
    let words = try await answer(nil, usual: usual ? "yes" : "no", why: why, "\(question)?") {
      ["y", "yes", "n", "no"].contains($0.lowercased()) ? nil : "Answer yes or no."
    }
    return words.lowercased().hasPrefix("y")
  }
}
