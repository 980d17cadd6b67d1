// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing

/// A real mosquitto with the shipped configuration; only paths and the listener are changed.
final class ConfiguredBroker {
  static let configuration = URL(fileURLWithPath: #filePath)
    .appending(path: "../../../config").standardized.path

  let port: UInt16
  let log: String
  private let directory: ConfigurationDirectory
  private let process: ChildProcess

  /// - Parameter included: whether a file as Debian ships it includes ours.
  init(users: [String], included: Bool = false) throws {
    directory = try ConfigurationDirectory()
    let path = directory.path
    log = "\(path)/log"
    port = try UnusedPort.next()
    let shipped = try String(
      contentsOfFile: "\(Self.configuration)/mosquitto.conf", encoding: .utf8)
    let changes = [
      ("listener 1883", "listener \(port) 127.0.0.1"),
      ("/etc/mosquitto/threadkeeper.passwd", "\(path)/passwords"),
      ("/etc/mosquitto/threadkeeper.acl", "\(path)/acl"),
    ]
    var text = shipped
    for (line, changed) in changes {
      try #require(text.contains("\n\(line)") || text.contains(" \(line)\n"), "\(line)")
      text.replace(line, with: changed)
    }
    // As root, mosquitto would become a user that can't read this directory.
    let user = geteuid() == 0 ? "user root\n" : ""
    let main =
      user + "persistence true\npersistence_location \(path)/\nlog_dest file \(log)\nlog_type all\n"
    if included {
      try directory.write(text, to: "conf.d/threadkeeper.conf")
      try directory.write(main + "include_dir \(path)/conf.d\n", to: "main.conf")
    } else {
      let alone = main.replacing("persistence true\n", with: "")
      try directory.write(text + "\n" + alone, to: "main.conf")
    }
    let list = try String(contentsOfFile: "\(Self.configuration)/acl.conf", encoding: .utf8)
    try directory.write(list, to: "acl")
    try directory.write("", to: "passwords")
    for user in users {
      try Program.check("mosquitto_passwd", ["-b", "\(path)/passwords", user, "pw"])
    }
    process = try ChildProcess(
      "/usr/sbin/mosquitto", ["-c", "\(path)/main.conf"],
      streams: (.nothing, .file("\(path)/output"), .sameAsOutput))
    try waitUntil("mosquitto runs") {
      guard process.isRunning else { throw Failure(log: readLog() + written("output")) }
      return readLog().contains(" running")
    }
  }

  deinit {
    process.signal(SIGTERM)
    process.wait()
  }

  struct Failure: Error {
    let log: String
  }

  private func written(_ file: String) -> String {
    (try? String(contentsOfFile: "\(directory.path)/\(file)", encoding: .utf8)) ?? ""
  }

  func readLog() -> String {
    (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
  }

  /// Whether the broker lets the user publish there.
  func allows(_ user: String, publish topic: String, _ payload: String = "x") throws -> Bool {
    let published = try Program.run(
      "mosquitto_pub", login(user) + ["-V", "5", "-q", "1", "-t", topic, "-m", payload])
    return !published.output.contains("ot authori")
  }

  /// The topic of the first message that reaches a user who listens to everything, while the
  /// daemon publishes to these topics one after the other.
  func firstTopic(reaching user: String, of topics: [String]) throws -> String {
    let subscribed = "Sending SUBACK"
    let before = readLog().components(separatedBy: subscribed).count
    let subscriber = try ChildProcess(
      "/usr/bin/mosquitto_sub",
      login(user) + ["-t", "threadkeeper/#", "-C", "1", "-W", "20", "-F", "%t"],
      streams: (.nothing, .file("\(directory.path)/received"), .sameAsOutput))
    try waitUntil("\(user) has subscribed") {
      readLog().components(separatedBy: subscribed).count > before
    }
    for topic in topics { _ = try allows("threadkeeper", publish: topic) }
    subscriber.wait()
    return written("received").trimmingCharacters(in: .newlines)
  }

  private func login(_ user: String) -> [String] {
    ["-h", "127.0.0.1", "-p", "\(port)", "-u", user, "-P", "pw"]
  }
}

/// Looks again and again until the condition holds; fails after a minute.
func waitUntil(_ what: String, _ condition: () throws -> Bool) throws {
  let end = ContinuousClock.now.advanced(by: .seconds(60))
  while try !condition() {
    try #require(ContinuousClock.now < end, "\(what)")
    usleep(5_000)
  }
}
