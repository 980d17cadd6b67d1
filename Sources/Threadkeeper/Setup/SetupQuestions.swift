import Broker
import Glibc
import Settings

/// What setup can do itself at a broker.
struct LoginMaker {
  /// Why it cannot change the broker's files; nil where it can.
  var obstacle: String?
  /// Whether the broker lacks threadkeeper's login.
  var lacksLogin = false
  /// Whether anything of login and access list differs from what is needed.
  var isNeeded = true

  init(obstacle: String) { self.obstacle = obstacle }

  /// - Parameters:
  ///   - settings: with the broker and its login.
  ///   - restart: how the broker is made to read its files.
  init(_ settings: Settings, file: String?, restart: BrokerRestart?) {
    guard case .named(let host) = settings.mqtt.host, let login = settings.mqtt.username,
      let house = HouseBroker(host: host, port: settings.mqtt.port, file: file)
    else {
      obstacle = "no configuration of a Mosquitto on this machine was found for this broker"
      return
    }
    if !house.isComplete {
      obstacle = "the broker's files do not say all about logins and access, or this user cannot read them"
    } else if !house.isWritable {
      obstacle = "this user cannot write the broker's files"
    } else if restart == nil {
      obstacle = "how to restart the broker is not known: give --restart-broker"
    }
    lacksLogin = house.logins?.contains(login) != true
    var list = AccessList(settings)
    let isOwn = house.accessList.map { list.takeRoles(ofOwn: $0) } ?? false
    list.addHomeAssistant(settings)
    isNeeded = lacksLogin || !isOwn && house.accessList == nil || (try? house.gaps(list))?.isEmpty != true
  }
}

/// Gathers the answers: from options, else by questions with a default in brackets, else it says which option is missing.
struct SetupQuestions {
  static let tries = 3
  /// Of a private broker beside another one, as the package has it.
  static let privatePort: UInt16 = 18_830

  let flags: SetupFlags
  let current: Settings
  /// Nothing was set up before: then the broker of the settings is nobody's choice.
  let isFirst: Bool
  let prompt: any Prompt
  /// Whether there is a person who answers.
  let isAsking: Bool
  /// From `--password-file`.
  let given: SecretText?
  /// The password that is stored for a login.
  let known: @Sendable (Settings.MQTT) async -> SecretText?
  /// Throws where a daemon runs that does not keep the password of this login.
  let checkDaemon: @Sendable (Settings.MQTT) async throws -> Void
  /// Tries a login: why the broker does not let it in, or is not reached; nil when it does.
  let greet: @Sendable (Settings.MQTT) async -> MosquittoError?
  /// The command that makes a login at the broker; nil when it has that login, or that is not known.
  let makingLogin: @Sendable (Settings.MQTT) -> String?
  /// Looks for brokers that a person may choose.
  var offered: @Sendable () async -> OfferedBrokers = { OfferedBrokers() }
  /// What setup can do itself at a broker.
  var maker: @Sendable (Settings.MQTT) -> LoginMaker = { _ in LoginMaker(obstacle: "not here") }

  struct Outcome {
    /// The settings with the answers. Their password is the former one, or none.
    var settings: Settings
    var password: SecretText?
    /// Why the broker refused the login, which is to be saved all the same.
    var problem: MosquittoError?
    /// Whether the broker was seen to let clients without a login in.
    var admitsAnonymous = false
    /// Whether setup makes login and access list at the broker.
    var makesLogin = false
    /// Whether it makes logins for agents there: also where nothing else is to be made.
    var makesAgentLogins = false
  }

  func run() async throws -> Outcome {
    var outcome = Outcome(settings: current)
    var mqtt: Settings.MQTT
    (mqtt, outcome.admitsAnonymous) = try await broker()
    if mqtt.host != .embedded {
      (mqtt, outcome.problem, outcome.makesLogin) = try await login(at: mqtt)
      outcome.password = mqtt.password
      if mqtt.username != nil {
        let maker = maker(mqtt)
        outcome.makesAgentLogins = maker.obstacle == nil && (outcome.makesLogin || !maker.isNeeded)
      }
      if mqtt.password != current.mqtt.password { mqtt.password = nil }
    }
    mqtt.baseTopic = flags.baseTopic ?? current.mqtt.baseTopic
    outcome.settings.mqtt = mqtt
    let announces = try await decide(
      flags.homeAssistant ?? (flags.homeAssistantLogin == nil ? nil : true),
      why: "Home Assistant shows threadkeeper and each border router as devices, without any YAML.",
      "Announce them to Home Assistant", usual: current.homeAssistant.discovery == .on)
    outcome.settings.homeAssistant.discovery = announces ? .on : .off
    let reach = try await answer(
      flags.reach(current.http)?.rawValue, usual: PageReach(current.http).rawValue,
      why:
        "A status page in the browser: no keys are on it. `yes` is for this machine; `home` opens it to your network,"
        + " by a link with a token. There is no TLS: trust the network, or put a proxy before it.",
      "Serve the status page?"
    ) { PageReach(answer: $0) == nil ? "Answer yes, home or no." : nil }
    PageReach(answer: reach)?.apply(to: &outcome.settings.http)
    return outcome
  }

  // MARK: The broker

  /// - Returns: the connection without a login, and whether the broker takes it so.
  private func broker() async throws -> (Settings.MQTT, isAnonymous: Bool) {
    // A script names its broker.
    let offered = isAsking && flags.broker == nil ? await offered() : OfferedBrokers()
    var proposed = isFirst ? "127.0.0.1" : "embedded"
    if case .named(let name) = current.mqtt.host { proposed = name }
    if flags.broker == nil, !isAsking, isFirst, current.mqtt.host == .embedded { throw SetupFlags.missing("--broker") }
    while true {
      let typed = try await answer(
        flags.broker, usual: proposed,
        why: "The broker is where border routers and Home Assistant meet threadkeeper: the name or address of yours, or"
          + " `embedded` for a private one on this machine, to try things out.\(offered.text)", "Broker"
      ) { Self.place(offered.answer($0)) == nil ? "That is no host name or address." : nil }
      let host = offered.answer(typed)
      guard host != "embedded" else {
        var mqtt = current.mqtt
        mqtt.host = .embedded
        // The port of the other one stays its own.
        if current.mqtt.host != .embedded { mqtt.port = Self.privatePort }
        return (mqtt, false)
      }
      let (name, port) = Self.place(host) ?? (host, nil)
      if let port, let other = flags.port, port != other {
        throw CommandFailure(.usage, "`--broker \(host)` and `--port \(other)` name two ports")
      }
      let mqtt = try await connection(to: name, port: flags.port ?? port)
      guard !flags.noValidate else { return (mqtt, false) }
      guard let error = await greet(mqtt) else { return (mqtt, true) }
      guard !error.isRefusal else { return (mqtt, false) }
      guard isAsking, flags.broker == nil else { throw Self.unreached(error) }
      prompt.say(
        "\n\(error.message.printable)\nCorrect it, or press Enter to try the same again. --no-validate asks no broker.\n"
      )
      proposed = name
    }
  }

  /// A host, and the port where one stands behind it, as in `broker.local:1883` and `[::1]:1883`. Nil for neither.
  private static func place(_ text: String) -> (host: String, port: UInt16?)? {
    if HostName.isFit(text) { return (text, nil) }
    guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]), port > 0 else {
      return nil
    }
    var host = text[..<colon]
    if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
    return HostName.isFit(String(host)) ? (String(host), port) : nil
  }

  private func connection(to host: String, port given: UInt16?) async throws -> Settings.MQTT {
    var mqtt = current.mqtt
    (mqtt.host, mqtt.username, mqtt.password) = (.named(host), nil, nil)
    // Of another host, too: TLS does not end because a name changes.
    var authority = flags.authority ?? current.mqtt.tls?.caFile
    let usual =
      mqtt.host == current.mqtt.host && flags.authority == nil ? current.mqtt.port : authority == nil ? 1883 : 8883
    let port = try await answer(
      given.map { "\($0)" }, usual: "\(usual)", why: "1883 is MQTT without TLS, 8883 with TLS.", "Port"
    ) { (UInt16($0) ?? 0) > 0 ? nil : "A port is a number from 1 to 65535." }
    mqtt.port = UInt16(port) ?? usual
    if flags.authority == nil, authority != nil || mqtt.port == 8883, isAsking {
      let file = try await answer(
        nil, usual: authority ?? SetupFlags.systemAuthorities,
        why: "Who may have signed the broker's certificate: a PEM file; `none` for no TLS.", "Authorities"
      ) { $0 == "none" || access(SetupFlags.absolute($0), R_OK) == 0 ? nil : "There is no such file that can be read." }
      authority = file == "none" ? nil : SetupFlags.absolute(file)
    }
    mqtt.tls = authority.map {
      .init(caFile: $0, certificateFile: mqtt.tls?.certificateFile, keyFile: mqtt.tls?.keyFile)
    }
    return mqtt
  }

  static func unreached(_ error: MosquittoError) -> CommandFailure {
    CommandFailure(
      .unavailable, error.message,
      remedy: "nothing was written; --no-validate writes the settings without asking the broker")
  }

  // MARK: The login

  private typealias Login = (mqtt: Settings.MQTT, problem: MosquittoError?, isMade: Bool)

  /// - Returns: the connection with its login, and why the broker refuses it, where it is to be saved all the same.
  private func login(at broker: Settings.MQTT) async throws -> Login {
    while true {
      var mqtt = broker
      mqtt.username = try await username(at: broker)
      if mqtt.username != nil {
        let maker = maker(mqtt)
        let makes = try await makesLogin(maker)
        if makes, maker.lacksLogin {
          mqtt.password = given ?? SecretText(EmbeddedBroker.randomPassword())
          return (mqtt, nil, true)
        }
        if let outcome = try await password(for: mqtt) { return (outcome.mqtt, outcome.problem, makes) }
        continue
      }
      guard let refusal = try await refusal(of: mqtt) else { return (mqtt, nil, false) }
      guard isAsking, !flags.noLogin else {
        throw CommandFailure(.notPermitted, refusal.message, remedy: "nothing was written; give --login")
      }
      prompt.say("\(refusal.message.printable)\n")
    }
  }

  private func makesLogin(_ maker: LoginMaker) async throws -> Bool {
    if let obstacle = maker.obstacle {
      guard flags.makeLogin == true else { return false }
      throw CommandFailure(.usage, "--make-login: \(obstacle)", remedy: "leave it out: the steps are printed then")
    }
    guard maker.isNeeded else { return false }
    return try await decide(
      flags.makeLogin ?? (isAsking ? nil : false),
      why: "The broker's files are on this machine. Setup can make the login and the access list itself: it shows what"
        + " changes before it writes, keeps copies, and `threadkeeper setup --undo` puts them back.",
      "Make the login and the access list", usual: true)
  }

  /// Asks for the password until the broker takes it.
  ///
  /// - Returns: nil where another login is wanted.
  private func password(for broker: Settings.MQTT) async throws -> (mqtt: Settings.MQTT, problem: MosquittoError?)? {
    let name = broker.username ?? ""
    if let host = BrokerCheck.hostInPlaintext(broker) {
      warn(
        "The password goes to \(host.printable) without TLS: whoever is on the way can read it. --ca-file or --tls sets TLS up."
      )
    }
    let known = await known(broker)
    if known == nil { try await checkDaemon(broker) }
    let missing = makingLogin(broker)
    if isAsking, given == nil, let missing {
      prompt.say("The broker does not know \(name.printable) yet. Make the login in another terminal:\n  \(missing)\n")
    }
    var wrong = 0
    while true {
      let canChange = wrong > 0 && flags.login == nil
      guard let password = try await password(of: name, known, canChange: canChange) else { return nil }
      var mqtt = broker
      mqtt.password = password
      guard let refusal = try await refusal(of: mqtt) else { return (mqtt, nil) }
      wrong += 1
      let failure = CommandFailure(
        .notPermitted, refusal.message,
        remedy: "nothing was written; "
          + (makingLogin(mqtt).map { "the broker does not know this login, make it: `\($0)`" }
            ?? "if the broker does not know this login, make it there: `\(HouseBroker.makingLogin(name, in: nil))`"))
      guard isAsking, given == nil else { throw failure }
      prompt.say("\(refusal.message.printable)\n")
      if wrong == 1, missing == nil {
        prompt.say(
          "If the broker does not know \(name.printable) yet, make the login where the broker is, with the"
            + " password that you give here:\n  \(HouseBroker.makingLogin(name, in: nil))\n")
      }
      if flags.login == nil { prompt.say("Press Enter alone to give another login.\n") }
      guard wrong >= Self.tries else { continue }
      guard try await decide(nil, why: nil, "Save it, and correct the login at the broker afterwards", usual: false)
      else { throw failure }
      return (mqtt, refusal)
    }
  }

  /// - Returns: nil for no login.
  private func username(at broker: Settings.MQTT) async throws -> String? {
    if flags.noLogin { return nil }
    let hasNone = !isFirst && current.mqtt.host == broker.host && current.mqtt.username == nil
    if flags.login == nil, !isAsking, current.mqtt.username == nil, !hasNone { throw SetupFlags.missing("--login") }
    let name = try await answer(
      flags.login, usual: current.mqtt.username ?? (hasNone ? "none" : "threadkeeper"),
      why:
        "threadkeeper needs a login of its own: the broker's access list goes by it. `none` if the broker has no logins.",
      "Login"
    ) { (try? Username.checked($0)) == nil ? "That is no user name: it has 1 to 256 characters, none of / + #." : nil }
    return name == "none" && flags.login == nil ? nil : try Username.checked(name)
  }

  private func refusal(of mqtt: Settings.MQTT) async throws -> MosquittoError? {
    guard !flags.noValidate, let error = await greet(mqtt) else { return nil }
    try Task.checkCancellation()
    guard error.isRefusal else { throw Self.unreached(error) }
    return error
  }

  /// - Parameter canChange: whether an empty answer is for another login, and not for the known password.
  private func password(of name: String, _ known: SecretText?, canChange: Bool) async throws -> SecretText? {
    if let given { return given }
    guard isAsking else {
      guard let known else { throw SetupFlags.missing("--password-file") }
      return known
    }
    let usual = known == nil || canChange ? "" : " (Enter: the stored one)"
    while true {
      let answer = try await prompt.ask("Password of \(name.printable)\(usual): ", isHidden: true)
      guard let answer else { throw CancellationError() }
      if answer.isEmpty, canChange { return nil }
      if answer.isEmpty, let known { return known }
      guard !answer.isEmpty else { continue }
      _ = try Password.checked(Array(answer.utf8)[...])
      return SecretText(answer)
    }
  }

  // MARK: One question

  /// Where a person reads it: standard output is for the report.
  func warn(_ words: String) {
    guard isAsking else {
      try? StandardStream.error.write("warning: \(words)\n")
      return
    }
    prompt.say("\n\(words)\n")
  }

  /// - Parameter problem: what is wrong with an answer; nil when nothing is.
  func answer(
    _ flag: String?, usual: String, why: String?, _ question: String, _ problem: (String) -> String? = { _ in nil }
  ) async throws -> String {
    if let flag {
      guard let wrong = problem(flag) else { return flag }
      throw CommandFailure(.usage, "`\(flag)`: \(wrong)")
    }
    guard isAsking else { return usual }
    if let why { prompt.say("\n\(why)\n") }
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
