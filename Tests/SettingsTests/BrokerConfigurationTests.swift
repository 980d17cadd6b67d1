import Foundation
import TestKit
import Testing

/// The shipped `mosquitto.conf` in a real broker; only paths and the listener are changed.
@Suite(.serialized) struct BrokerConfigurationTests {
  private static let configuration = URL(fileURLWithPath: #filePath).appending(path: "../../../config").standardized
    .path

  @Test("Mosquitto starts with the configuration alone, and inside Debian's own", arguments: [false, true]) func starts(
    isIncluded: Bool
  ) async throws {
    let directory = try ConfigurationDirectory()
    let path = directory.path
    var text = try String(contentsOfFile: "\(Self.configuration)/mosquitto.conf", encoding: .utf8)
    for (line, changed) in [
      ("listener 1883", "listener \(try UnusedPort.next()) 127.0.0.1"),
      ("/etc/mosquitto/threadkeeper.passwd", "\(path)/passwords"), ("/etc/mosquitto/threadkeeper.acl", "\(path)/acl"),
    ] {
      try #require(text.contains("\n\(line)") || text.contains(" \(line)\n"), "\(line)")
      text.replace(line, with: changed)
    }
    // As root, mosquitto would become a user that can't read this directory.
    let user = geteuid() == 0 ? "user root\n" : ""
    let places = "persistence_location \(path)/\nlog_dest file \(path)/log\nlog_type all\n"
    if isIncluded {
      try directory.write(text, to: "conf.d/threadkeeper.conf")
      try directory.write("\(user)persistence true\n\(places)include_dir \(path)/conf.d\n", to: "main.conf")
    } else {
      try directory.write("\(text)\n\(user)\(places)", to: "main.conf")
    }
    try directory.write(try String(contentsOfFile: "\(Self.configuration)/acl.conf", encoding: .utf8), to: "acl")
    try directory.write("", to: "passwords")
    let broker = try ChildProcess(
      "/usr/sbin/mosquitto", ["-c", "\(path)/main.conf"], streams: (.nothing, .file("\(path)/output"), .sameAsOutput))
    defer {
      broker.signal(SIGTERM)
      broker.wait()
    }
    func written(_ file: String) -> String { (try? String(contentsOfFile: "\(path)/\(file)", encoding: .utf8)) ?? "" }
    try await eventually("mosquitto runs") {
      try #require(broker.isRunning, "\(written("log"))\(written("output"))")
      return written("log").contains(" running")
    }
    for complaint in ["Error", "Warning", "deprecated"] {
      #expect(!written("log").contains(complaint), "\(written("log"))")
    }
  }
}
