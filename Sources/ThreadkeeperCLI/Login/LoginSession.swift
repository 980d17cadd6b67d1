// SPDX-License-Identifier: Apache-2.0

import BrokerLoginStore
import SodiumCrypto
import ThreadkeeperDaemon

/// The questions of `threadkeeper login`: search, ask, try, store.
struct LoginSession: Sendable {
  private static let tries = 3

  let client: LoginClient
  /// From the settings or the command line.
  let username: String?
  /// From standard input.
  let password: SecretBytes?
  let isValidating: Bool

  func run() async throws -> (BrokerLogin, LoginClient.Stored) {
    let known = client.stored
    let name = try await name(known)
    var wrong = 0
    while true {
      let login = BrokerLogin(username: name, password: try await password(of: name))
      do {
        return (
          login, try await client.store(login, over: known, validating: isValidating)
        )
      } catch let refusal as LoginRefusal {
        wrong += 1
        guard password == nil, wrong < Self.tries else { throw refusal.failure }
        TerminalPrompt.show("\(refusal.failure.message.printable)\n")
      }
    }
  }

  private func name(_ known: BrokerLogin?) async throws -> String {
    if let username { return username }
    guard password == nil else {
      guard let known else {
        throw CommandFailure(
          .usage, "whose password is it?", remedy: "give --username, or set `mqtt.username`")
      }
      return known.username
    }
    guard TerminalPrompt.isPossible else { throw TerminalPrompt.noTerminal }
    let usual = known.map { " (Enter: \($0.username.printable))" } ?? ""
    let answer = try await TerminalPrompt.ask("User name at \(client.address)\(usual): ")
    guard let answer else { throw CancellationError() }
    if answer.isEmpty, let known { return known.username }
    return try Username.checked(answer)
  }

  private func password(of name: String) async throws -> SecretBytes {
    if let password { return password }
    return try await Password.asked("Password of \(name.printable) at \(client.address): ")
  }
}
