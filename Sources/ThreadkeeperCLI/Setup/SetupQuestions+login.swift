// SPDX-License-Identifier: Apache-2.0

import MosquittoClient
import Settings
import ThreadkeeperDaemon

extension SetupQuestions {
  func login(_ broker: SetupAnswers.Broker, _ unreached: MosquittoError?) async throws -> (
    username: String?, password: SecretText?, problem: MosquittoError?
  ) {
    guard let username = try await username(at: broker) else {
      do {
        return (nil, nil, try await judged(unreached, broker, nil, nil))
      } catch let refusal as Refused {
        guard isAsking, !flags.noLogin else {
          throw CommandFailure(
            .notPermitted, refusal.error.message, remedy: "nothing was written; give --login")
        }
        prompt.say("\(refusal.error.message.printable)\n")
        return try await login(broker, unreached)
      }
    }
    if case .own(let host, _, nil) = broker, host != "localhost", !HostName.isLoopback(host) {
      warn(
        "The password goes to \(host.printable) without TLS: whoever is on the way can read it. --ca-file or --tls sets TLS up."
      )
    }
    let known = await known(broker, username)
    let missing = unknownLogin(broker, username)
    if isAsking, given == nil, let command = missing {
      prompt.say(
        "The broker does not know \(username.printable) yet. Make the login in another terminal:\n  \(command)\n"
      )
    }
    var wrong = 0
    while true {
      guard let password = try await password(of: username, known, isAgain: wrong > 0) else {
        return try await login(broker, unreached)
      }
      do {
        let problem = try await judged(unreached, broker, username, password)
        return (username, password, problem)
      } catch let refusal as Refused {
        wrong += 1
        guard isAsking, given == nil else {
          throw refusal.failure(unknownLogin(broker, username), username)
        }
        prompt.say("\(refusal.error.message.printable)\n")
        if wrong == 1, missing == nil {
          prompt.say(
            "If the broker does not know \(username.printable) yet, make the login where the broker is, with the"
              + " password that you give here:\n  \(Self.makingLogin(username))\n")
        }
        if flags.login == nil { prompt.say("Press Enter alone to give another login.\n") }
        guard wrong >= Self.tries else { continue }
        guard
          try await decide(
            nil, why: nil, "Save it, and correct the login at the broker afterwards", usual: false)
        else { throw refusal.failure(unknownLogin(broker, username), username) }
        return (username, password, refusal.error)
      }
    }
  }

  /// - Returns: nil for no login.
  private func username(at broker: SetupAnswers.Broker) async throws -> String? {
    if flags.noLogin { return nil }
    var hasNone = false
    if case .own(let host, _, _) = broker {
      hasNone =
        !isFirst && current.mqtt.host == .named(host) && current.mqtt.username == nil
    }
    if flags.login == nil, !isAsking, !takesDefaults, current.mqtt.username == nil, !hasNone {
      throw SetupFlags.missing("--login")
    }
    let name = try await answer(
      flags.login, usual: current.mqtt.username ?? (hasNone ? "none" : "threadkeeper"),
      why:
        "threadkeeper needs a login of its own: the broker's access list goes by it. `none` if the broker has no logins.",
      "Login"
    ) {
      (try? Username.checked($0)) == nil
        ? "That is no user name: it has 1 to 256 characters, none of / + #." : nil
    }
    return name == "none" && flags.login == nil ? nil : try Username.checked(name)
  }

  /// Where a person reads it: standard output is for the report.
  func warn(_ words: String) {
    guard isAsking else {
      try? StandardStream.error.write("warning: \(words)\n")
      return
    }
    prompt.say("\n" + TextWrap.lines(words, width: HelpText.width).map { $0 + "\n" }.joined())
  }

  /// The broker has refused a login: another password may be right.
  private struct Refused: Error {
    let error: MosquittoError

    func failure(_ command: String?, _ username: String) -> CommandFailure {
      CommandFailure(
        .notPermitted, error.message,
        remedy: "nothing was written; "
          + (command.map { "the broker does not know this login, make it: `\($0)`" }
            ?? "if the broker does not know this login, make it there: `\(SetupQuestions.makingLogin(username))`")
      )
    }
  }

  /// Where the broker's files are not seen. `PASSWORD_FILE` is what its `password_file` names.
  static func makingLogin(_ username: String) -> String {
    "sudo mosquitto_passwd PASSWORD_FILE \(username.quoted) && sudo systemctl reload mosquitto"
  }

  private func judged(
    _ unreached: MosquittoError?, _ broker: SetupAnswers.Broker, _ username: String?,
    _ password: SecretText?
  ) async throws -> MosquittoError? {
    guard unreached == nil, !flags.noValidate else { return unreached }
    guard let error = await greet(broker, username, password) else { return nil }
    try Task.checkCancellation()
    guard error.isRefusal else { throw Self.unreached(error) }
    throw Refused(error: error)
  }

  /// - Returns: nil where another login is wanted.
  private func password(
    of name: String, _ known: SecretText?, isAgain: Bool
  ) async throws -> SecretText? {
    if let given { return given }
    guard isAsking else {
      guard let known else { throw SetupFlags.missing("--password-file") }
      return known
    }
    let canChange = isAgain && flags.login == nil
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
}

extension MosquittoError {
  /// The broker was reached, and does not let this login in.
  var isRefusal: Bool { reason == .credentials || reason == .notAuthorized }
}
