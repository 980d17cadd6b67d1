import Foundation
import TestKit
import Testing

/// `threadkeeper agent`, with options that have a test take seconds.
final class AgentProcess: Sendable {
  enum Kind: String, Sendable {
    case matter, otbr, ssid
    case homeAssistant = "home-assistant"

    /// Its login.
    var user: String {
      switch self {
      case .otbr: "attic"
      case .ssid: "hall"
      case .homeAssistant: "phones"
      case .matter: "matter"
      }
    }

    var options: [String] {
      switch self {
      case .otbr:
        ["--poll", "1", "--hold", "0", "--heartbeat", "2", "--request-timeout", "10", "--router-user", "\(getuid())"]
      case .ssid: ["--interval", "1"]
      case .matter: ["--server-user", "\(getuid())"]
      case .homeAssistant: ["--poll", "1", "--home-assistant-user", "\(getuid())"]
      }
    }
  }

  private let process: DaemonProcess

  /// - Parameters:
  ///   - arguments: URLs of routers, a source, other options.
  ///   - environment: besides that of all agents.
  ///   - directory: its home, for what it prints, and with programs that come before those of the system.
  init(
    _ kind: Kind, _ arguments: [String], user: String? = nil, environment: [String: String] = [:], broker: TestBroker,
    in directory: TemporaryDirectory, _ more: String...
  ) throws {
    process = try DaemonProcess(
      Self.arguments(kind, arguments + more, user: user, broker), name: "the agent",
      environment: Self.environment(directory).merging(environment) { $1 },
      errorFile: directory.file("agent-\(UInt32.random(in: 0 ... .max)).log"), keepsOutput: true)
  }

  static func arguments(_ kind: Kind, _ arguments: [String], user: String? = nil, _ broker: TestBroker) -> [String] {
    ["agent", kind.rawValue] + kind.options + arguments + [
      "--host", "127.0.0.1", "--port", "\(broker.port)", "--username", user ?? kind.user,
    ]
  }

  static func environment(_ directory: TemporaryDirectory) -> [String: String] {
    ["PATH": "\(directory.path):/usr/bin:/bin", "HOME": directory.path, "TMPDIR": directory.path]
  }

  var output: String { process.log }
  var identifier: Int32 { process.identifier }

  func signal(_ number: Int32) { process.signal(number) }

  func end() -> ChildProcess.End { process.stopAndWait() }
}

/// A program of another user of this machine, at the port of something that is off. For root, who can be two users.
enum Impostor {
  /// Nobody's.
  static let user = "65534"

  /// Accepts connections, answers nothing, and writes down what comes.
  static func start(_ url: String, _ received: String) throws -> ChildProcess {
    let program = """
      import os, socket, sys
      file = open(sys.argv[2], "ab", buffering=0)
      os.setuid(int(sys.argv[3]))
      listener = socket.socket()
      listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
      listener.bind(("127.0.0.1", int(sys.argv[1])))
      listener.listen()
      while True:
          connection = listener.accept()[0]
          file.write(connection.recv(65536))
          connection.close()
      """
    return try ChildProcess(
      "/usr/bin/env", ["python3", "-c", program, String(try #require(url.split(separator: ":").last)), received, user])
  }
}
