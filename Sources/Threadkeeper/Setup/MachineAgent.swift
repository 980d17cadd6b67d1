import ArgumentParser
import Broker
import FoundationEssentials
import Glibc
import Settings
import SodiumCrypto
import ThreadkeeperSupport

/// An agent that setup makes for what answers on this machine.
enum MachineAgent: String, CaseIterable, Codable, Sendable, ExpressibleByArgument {
  case homeAssistant = "home-assistant"
  case openThread = "openthread"

  /// In the names of its unit and its files.
  var name: String { self == .openThread ? "otbr" : rawValue }
  var unit: String { "threadkeeper-agent-\(name)" }
  /// What it is for.
  var title: String { self == .openThread ? "this OpenThread router" : "Home Assistant" }
}

/// The files of an agent on this machine.
struct AgentPlace {
  private static let heading =
    "# Of `threadkeeper setup`, which writes its options again, and leaves those that you add.\n"
  private static let making = "# It has made: "
  /// Those of setup, each with a value.
  private static let own: Set = [
    "--url", "--token-file", "--home-assistant-user", "--router-user", "--host", "--port", "--cafile", "--base-topic",
    "--username", "--password-file", "--daemon", "--key",
  ]

  let agent: MachineAgent
  let directory: String

  init(_ agent: MachineAgent, _ system: SystemPlaces) { (self.agent, directory) = (agent, system.agentDirectory) }

  /// What systemd reads.
  var options: String { file("env") }
  var key: String { file("key") }
  var password: String { file("password") }
  var token: String { file("token") }

  private func file(_ suffix: String) -> String { "\(directory)/\(agent.name).\(suffix)" }

  /// Those of setup that are there.
  var files: [String] { ([options] + made).filter { access($0, F_OK) == 0 } }

  /// What setup has made beside the options; other files are a person's, also where the agent uses them.
  var made: [String] {
    guard isOfSetup, let text, let start = text.firstRange(of: Self.making) else { return [] }
    let names = text[start.upperBound...].prefix { $0 != "\n" }.split(separator: " ")
    return [key, password, token].filter { names.contains($0.dropFirst(directory.utf8.count + 1)) }
  }

  /// What its options are now; nil where there are none.
  var text: String? { WholeFile.look(options) }

  /// Whether setup has made it. One of others stays as it is.
  var isOfSetup: Bool { text?.hasPrefix(Self.heading) == true }

  /// The first line of a file of secrets.
  func secret(_ path: String) -> SecretText? { (try? SecretInput.line(path, of: "line")).map { SecretText($0) } }

  /// The value that setup's options have for one of them.
  func value(of option: String) -> String? {
    guard isOfSetup, let text else { return nil }
    let words = Self.words(text)
    return words.firstIndex(of: option).flatMap { words.indices.contains($0 + 1) ? words[$0 + 1] : nil }
  }

  /// Where its router is.
  var router: String? {
    guard isOfSetup, let text, let start = text.firstRange(of: "AGENT_URLS=\"") else { return nil }
    return String(text[start.upperBound...].prefix { $0 != "\"" })
  }

  /// - Parameters:
  ///   - words: of setup.
  ///   - url: of a router.
  ///   - made: nil: as before.
  /// - Returns: with the options that a person has added.
  func text(_ words: [String], url: String?, made: [String]?) -> String {
    let all = words + Self.added(to: text ?? "")
    let names = (made ?? self.made).map { $0.dropFirst(directory.utf8.count + 1) }
    return Self.heading + "\(Self.making)\(names.joined(separator: " "))\n"
      + "AGENT_OPTIONS=\"\(all.joined(separator: " "))\"\n" + (url.map { "AGENT_URLS=\"\($0)\"\n" } ?? "")
  }

  static func added(to text: String) -> [String] {
    var rest = words(text)[...]
    var added: [String] = []
    while let word = rest.popFirst() {
      guard own.contains(word) else {
        added.append(word)
        continue
      }
      _ = rest.popFirst()
    }
    return added
  }

  private static func words(_ text: String) -> [String] {
    guard let start = text.firstRange(of: "AGENT_OPTIONS=\"") else { return [] }
    return text[start.upperBound...].prefix { $0 != "\"" }.replacing("\\\n", with: " ").split { " \n\t".contains($0) }
      .map(String.init)
  }

  /// That of its key; nil where there is none.
  func line(_ system: SystemPlaces) throws(CommandFailure) -> String? {
    guard access(key, F_OK) == 0 else { return nil }
    return try ClientKeyFile(path: key).read(of: Self.account(system)?.user).keys.line
  }

  // MARK: Writing

  /// The package's user and group, who are not those of files of a system that is only prepared.
  static func account(_ system: SystemPlaces) -> (user: uid_t, group: gid_t)? {
    guard system.isRunning else { return (geteuid(), getegid()) }
    guard let user = SystemAccount.user(StoreOwner.agents), let group = SystemAccount.group(StoreOwner.agents) else {
      return nil
    }
    return (user, group)
  }

  /// Why what is in the directory counts for nothing: somebody else than who runs this can write there, such as an
  /// agent that would name another login. Nil where nobody can.
  var foreign: CommandFailure? {
    var status = stat()
    guard stat(directory, &status) == 0 else { return nil }
    let isOwn = status.st_uid == 0 || status.st_uid == geteuid()
    guard !isOwn || status.st_mode & (S_IWGRP | S_IWOTH) != 0 else { return nil }
    return CommandFailure(
      .notPermitted, "\(directory) can be written by others than root",
      remedy: "look through it, then: sudo chown root:\(StoreOwner.agents) \(directory) && sudo chmod 750 \(directory)")
  }

  func makeDirectory(_ account: (user: uid_t, group: gid_t)) throws(CommandFailure) {
    guard access(directory, F_OK) != 0 else { return }
    try PrivateDirectory.make(directory)
    guard chown(directory, geteuid(), account.group) == 0, chmod(directory, 0o750) == 0 else {
      throw WholeFile.failure(directory)
    }
  }

  /// For the agent alone.
  func write(secret: SecretText, to path: String, _ account: (user: uid_t, group: gid_t)) throws(CommandFailure) {
    let access = WholeFile.Access(owner: account.user, group: account.group, mode: 0o600)
    try WholeFile.write("\(secret.revealed)\n", to: path, new: access) {}
  }

  /// For root, who starts it, and the agent's group.
  func write(options text: String, _ account: (user: uid_t, group: gid_t)) throws(CommandFailure) {
    try WholeFile.write(text, to: options, new: .init(group: account.group, mode: 0o640)) {}
  }
}
