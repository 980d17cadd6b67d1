// SPDX-License-Identifier: Apache-2.0

import Foundation
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
    port = try Self.freePort()
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
      try ChildProcess(
        "/usr/bin/mosquitto_passwd", ["-b", "\(path)/passwords", user, "pw"],
        output: "\(path)/output"
      ).waitForExit()
    }
    process = try ChildProcess(
      "/usr/sbin/mosquitto", ["-c", "\(path)/main.conf"], output: "\(path)/output")
    try waitUntil("mosquitto runs") {
      guard process.isRunning else { throw Failure(log: readLog() + process.text) }
      return readLog().contains(" running")
    }
  }

  struct Failure: Error {
    let log: String
  }

  func readLog() -> String {
    (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
  }

  /// Whether the broker lets the user publish there.
  func allows(_ user: String, publish topic: String, _ payload: String = "x") throws -> Bool {
    let publisher = try ChildProcess(
      "/usr/bin/mosquitto_pub", login(user) + ["-V", "5", "-q", "1", "-t", topic, "-m", payload],
      output: "\(directory.path)/published")
    publisher.waitForExit()
    return !publisher.text.contains("ot authori")
  }

  /// The topic of the first message that reaches a user who listens to everything, while the
  /// keeper publishes to these topics one after the other.
  func firstTopic(reaching user: String, of topics: [String]) throws -> String {
    let subscribed = "Sending SUBACK"
    let before = readLog().components(separatedBy: subscribed).count
    let subscriber = try ChildProcess(
      "/usr/bin/mosquitto_sub",
      login(user) + ["-t", "threadkeeper/#", "-C", "1", "-W", "20", "-F", "%t"],
      output: "\(directory.path)/received")
    try waitUntil("\(user) has subscribed") {
      readLog().components(separatedBy: subscribed).count > before
    }
    for topic in topics { _ = try allows("threadkeeper", publish: topic) }
    subscriber.waitForExit()
    return subscriber.text.trimmingCharacters(in: .newlines)
  }

  private func login(_ user: String) -> [String] {
    ["-h", "127.0.0.1", "-p", "\(port)", "-u", user, "-P", "pw"]
  }

  /// A port that nobody listens on.
  private static func freePort() throws -> UInt16 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
        bind(descriptor, generic, size) == 0 && getsockname(descriptor, generic, &size) == 0
      }
    }
    try #require(result)
    return UInt16(bigEndian: address.sin_port)
  }
}

/// Looks again and again until the condition holds; fails after 20 seconds.
func waitUntil(_ what: String, _ condition: () throws -> Bool) throws {
  let end = ContinuousClock.now.advanced(by: .seconds(20))
  while try !condition() {
    try #require(ContinuousClock.now < end, "\(what)")
    usleep(5_000)
  }
}
