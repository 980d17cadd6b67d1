// SPDX-License-Identifier: Apache-2.0

import BrokerAccess

extension EmbeddedBroker {
  /// Settles the passwords and writes the password file and the access list.
  func prepareLogins() throws(EmbeddedBrokerError) {
    guard !configuration.logins.isEmpty else { return }
    try wrapped { () throws(AccessListError) in
      for login in configuration.logins { try AccessList.check(userName: login.name) }
    }
    let kept = directory.keptPasswords
    var passwords: [String: String] = [:]
    for login in configuration.logins {
      let password = login.password ?? kept[login.name] ?? Self.randomPassword()
      guard !password.isEmpty, !password.unicodeScalars.contains(where: { $0.value < 0x20 }),
        password.utf8.count <= 1000
      else {
        throw .password("the password of `\(login.name)` is empty, too long or not plain text")
      }
      passwords[login.name] = password
    }
    state.withLock { $0.passwords = passwords }
    try writePasswordFile(passwords)
    try PrivateFile.write(accessList(), to: directory.accessListFile)
  }

  private func accessList() throws(EmbeddedBrokerError) -> String {
    func names(_ role: EmbeddedBrokerConfiguration.Login.Role) -> [String] {
      configuration.logins.filter { $0.role == role }.map(\.name)
    }
    var list = AccessList(baseTopics: configuration.baseTopics, daemons: names(.daemon))
    list.discoveryPrefix = configuration.discoveryPrefix
    list.monitors = names(.monitor)
    return try wrapped { () throws(AccessListError) in try list.text() }
  }

  private func wrapped<R>(
    _ body: () throws(AccessListError) -> R
  ) throws(EmbeddedBrokerError) -> R {
    do { return try body() } catch { throw .accessList(error) }
  }

  /// Mosquitto's tool turns the clear text into salted hashes, in place. No password is seen in a
  /// list of processes.
  private func writePasswordFile(_ passwords: [String: String]) throws(EmbeddedBrokerError) {
    let tool = try Self.find("mosquitto_passwd", package: "mosquitto", nil)
    let text = passwords.keys.sorted().map { "\($0):\(passwords[$0] ?? "")\n" }.joined()
    try PrivateFile.write(text, to: directory.passwordFile)
    let process = try BrokerProcess(
      BrokerProcess.Command(
        program: tool, arguments: ["-U", directory.passwordFile], logFile: directory.logFile))
    guard process.waitForEnd(within: configuration.startLimit), process.status == 0 else {
      process.signal(9)
      throw .died("mosquitto_passwd failed", log: directory.logTail)
    }
  }

  /// 24 characters of 62: 142 bits from the system's generator.
  static func randomPassword() -> String {
    let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
    var generator = SystemRandomNumberGenerator()
    return String((0..<24).map { _ in letters[Int.random(in: 0..<62, using: &generator)] })
  }
}
