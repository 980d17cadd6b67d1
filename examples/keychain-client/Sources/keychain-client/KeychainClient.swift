// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security

/// Keeps passwords by name in the keychain of the user.
@main enum KeychainClient {
  private static let usage = """
    usage: keychain-client set NAME      ask for a password and keep it
           keychain-client get NAME      print it; ask for it first when it is not there
           keychain-client list          print all names
           keychain-client delete NAME   forget one

    """

  static func main() {
    #if os(Linux)
    // Not needed. It tells the reason of a refusal, where Apple's systems have a log.
    var settings = LinuxKeychain.settings
    settings.report = { status, reason in complain("keychain: \(reason) (\(status))\n") }
    LinuxKeychain.bootstrap(settings)
    #endif
    do { try run(Array(CommandLine.arguments.dropFirst())) } catch {
      complain("keychain-client: \(error)\n")
      exit(1)
    }
  }

  private static func run(_ arguments: [String]) throws {
    let passwords = PasswordKeychain(service: "keychain-client")
    switch (arguments.first, arguments.count) {
    case ("set", 2):
      let name = arguments[1]
      let password = try PasswordPrompt.ask("Password for \(name): ")
      try passwords.store(password, for: name)
    case ("get", 2): print(try password(for: arguments[1], in: passwords))
    case ("list", 1): for name in try passwords.names() { print(name) }
    case ("delete", 2): try passwords.delete(arguments[1])
    default:
      complain(usage)
      exit(64)
    }
  }

  /// The way of every program that needs a password: search first, and bother nobody when it is
  /// there. Otherwise ask, try it out, and only then keep it.
  private static func password(for name: String, in passwords: PasswordKeychain) throws -> String {
    if let password = try passwords.find(name) { return password }
    guard PasswordPrompt.isPossible else { throw KeychainFailure(status: errSecItemNotFound) }
    let password = try PasswordPrompt.ask("No password for \(name) yet. Password: ")
    // Here a program would log in somewhere with it, and keep nothing that is refused.
    try passwords.store(password, for: name)
    return password
  }

  private static func complain(_ text: String) { FileHandle.standardError.write(Data(text.utf8)) }
}
