// SPDX-License-Identifier: Apache-2.0

import SodiumCrypto
import ThreadkeeperDaemon

/// The questions of `threadkeeper login`: search, ask, try, store.
struct LoginSession: Sendable {
  private static let tries = 3

  let client: DaemonClient
  let address: BrokerAddress
  /// Of the login that the daemon has, where it is stored.
  let known: String?
  /// From the settings or the command line.
  let username: String?
  /// From standard input.
  let password: SecretBytes?
  let isValidating: Bool

  func run() async throws -> (BrokerLogin, StoreLogin.Reply) {
    let name = try await name()
    var wrong = 0
    while true {
      let login = BrokerLogin(username: name, password: try await password(of: name))
      do {
        if isValidating {
          try await LoginTrial(settings: client.settings, address: address).check(login)
        }
      } catch let refusal as CommandFailure where refusal.status == .notPermitted {
        wrong += 1
        guard password == nil, wrong < Self.tries else { throw refusal }
        TerminalPrompt.show("\(refusal.message.printable)\n")
        continue
      }
      let stored = try await client.perform(
        StoreLogin(
          broker: address.url, username: name, password: login.text))
      return (login, stored)
    }
  }

  private func name() async throws -> String {
    if let username { return username }
    guard password == nil else {
      guard let known else {
        throw CommandFailure(
          .usage, "whose password is it?", remedy: "give --username, or set `mqtt.username`")
      }
      return known
    }
    guard TerminalPrompt.isPossible else { throw TerminalPrompt.noTerminal }
    let usual = known.map { " (Enter: \($0.printable))" } ?? ""
    let answer = try await TerminalPrompt.ask("User name at \(address)\(usual): ")
    guard let answer else { throw CancellationError() }
    if answer.isEmpty, let known { return known }
    return try Username.checked(answer)
  }

  private func password(of name: String) async throws -> SecretBytes {
    if let password { return password }
    return try await Password.asked("Password of \(name.printable) at \(address): ")
  }
}
