import Foundation
import TestKit
import Testing

/// OpenThread Border Routers with simulated radios, each with a REST interface on loopback: the program
/// `Doubles/thread_routers.py`. They end with this object, or with the tests.
final class ThreadRouters: Sendable {
  private let directory: TemporaryDirectory
  private let process: ChildProcess
  /// While it is open, the program runs.
  private let lifeline: PrivatePipe
  private let ports: [Int]

  init(_ count: Int) async throws {
    directory = try TemporaryDirectory()
    let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
      "../../../Doubles/thread_routers.py"
    ).standardized.path
    lifeline = try PrivatePipe()
    process = try ChildProcess(
      "/usr/bin/env", ["python3", script, directory.path, "\(count)"],
      streams: (.descriptor(lifeline.reading), .nothing, .file(directory.file("errors"))))
    lifeline.closeReading()
    let file = directory.file("ports")
    try await eventually("the routers") {
      (try? String(contentsOfFile: file, encoding: .utf8))?.split(separator: "\n").count == count + 1
    }
    ports = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").map { try #require(Int($0)) }
  }

  deinit { process.signal(SIGKILL) }

  func url(_ router: Int) -> String { "http://127.0.0.1:\(ports[router])" }

  /// Has a router do something; see the program.
  ///
  /// - Returns: its border agent id and extended address of then.
  @discardableResult func order(_ router: Int, _ action: String, _ body: String = "") throws -> (
    agent: String, address: String
  ) {
    let answer = try curl("\(router)/\(action)", ["--data-binary", body]).split(separator: " ")
    return (String(try #require(answer.first)), String(try #require(answer.last)))
  }

  /// Every dataset that a router has ever had, in lower-case hex.
  func seen(_ router: Int) throws -> [String] { try lines("\(router)/seen") }

  /// What was changed over REST, as `PUT /node/state 200`.
  func changes(_ router: Int) throws -> [String] { try lines("\(router)/journal").filter { !$0.hasPrefix("GET ") } }

  /// An answer of a router, as a program reads it.
  func get(_ router: Int, _ path: String) throws -> String {
    try Program.check("curl", ["-s", "-H", "Accept: text/plain", url(router) + path]).trimmingCharacters(
      in: CharacterSet(charactersIn: "\" \r\n"))
  }

  private func lines(_ path: String) throws -> [String] { try curl(path, []).split(separator: "\n").map(String.init) }

  private func curl(_ path: String, _ options: [String]) throws -> String {
    try Program.check("curl", ["-sf", "--max-time", "20"] + options + ["http://127.0.0.1:\(ports.last ?? 0)/\(path)"])
  }
}
