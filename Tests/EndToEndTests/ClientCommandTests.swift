// SPDX-License-Identifier: Apache-2.0

import Broker
import Foundation
import TestKit
import Testing

@Suite("What a client does without a store", .inTurns, .timeLimit(.minutes(30)))
struct ClientCommandTests {
  private let directory: TemporaryDirectory
  private let topic = "threadkeeper/out/phone/response/ping"

  init() throws { directory = try TemporaryDirectory() }

  private func client(
    _ arguments: String..., input: String = "", home: String? = nil
  ) async throws -> ThreadkeeperBinary.Outcome {
    try await ThreadkeeperBinary.run(
      ["client"] + arguments, input: .text(input),
      environment: ["HOME": home ?? directory.path])
  }

  private func keygen(_ name: String) async throws -> (file: String, line: String) {
    let file = directory.file(name)
    let made = try await client("keygen", "--out", file)
    try #require(made.status == 0, "\(made.error)")
    return (file, String(try #require(made.output.split(separator: "\n").first)))
  }

  @Test("A key file is made once, for its owner only, and one that others can read is refused")
  func keyFile() async throws {
    let made = try await client("keygen")
    #expect(made.status == 0)
    let path = directory.file(".config/threadkeeper/client.key")
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    #expect(mode == 0o600)
    let line = try #require(made.output.split(separator: "\n").first)
    let keys = try PublicIdentity(line: String(line))
    #expect(made.output.contains(keys.fingerprint))
    let again = try await client("keygen")
    #expect(again.status == 73 && again.error.contains("already"))
    let homeless = try await client("keygen", home: directory.file("home"))
    #expect(homeless.status == 73 && homeless.error.contains("home is missing"))
    #expect(!FileManager.default.fileExists(atPath: directory.file("home")))
    func seal(key: String? = nil) async throws -> ThreadkeeperBinary.Outcome {
      let arguments = ["--to", String(line), "--topic", topic, "--id", "r-17"]
      return try await ThreadkeeperBinary.run(
        ["client", "seal"] + arguments + (key.map { ["--key", $0] } ?? []), input: .text("{}"),
        environment: ["HOME": directory.path])
    }
    let sealed = try await seal()
    #expect(sealed.status == 0, "\(sealed.error)")
    // What it holds is in no output.
    let secret = try #require(
      try String(contentsOfFile: path, encoding: .utf8).split(separator: " ").last)
    for text in [made.output, made.error, sealed.output, again.error] {
      #expect(!text.contains(secret.prefix(20)))
    }
    for loose: mode_t in [0o640, 0o604, 0o660] {
      chmod(path, loose)
      let refused = try await seal()
      #expect(refused.status == 77 && refused.error.contains("chmod 600"))
    }
    chmod(path, 0o600)
    try Data("something else\n".utf8).write(to: URL(fileURLWithPath: path))
    #expect(try await seal().status == 65)
    #expect(try await seal(key: directory.file("none")).status == 66)
    #expect(try await seal(key: directory.path).status == 66)
  }

  @Test(
    "A key file of another user is refused with that user's name",
    .enabled(if: getuid() == 0, "only root can give a file away"))
  func anothersKeyFile() async throws {
    let (file, line) = try await keygen("router.key")
    let nobody = try #require(getpwuid(65534).map { String(cString: $0.pointee.pw_name) })
    #expect(chown(file, 65534, 65534) == 0)
    let refused = try await client(
      "seal", "--key", file, "--to", line, "--topic", topic, "--id", "r-17", input: "{}")
    #expect(refused.status == 77 && refused.error.contains("belongs to \(nobody)"))
  }

  @Test("A sealed message opens only with its recipient's key, its sender's line and its topic")
  func sealAndOpen() async throws {
    let (mine, line) = try await keygen("phone.key")
    let (daemonKey, daemonLine) = try await keygen("keeper.key")
    let (_, unknownLine) = try await keygen("unknown.key")
    let body = #"{"status":"ok","data":{"network_name":"Zuhause 🏠"}}"#
    let sealed = try await client(
      "seal", "--key", daemonKey, "--to", line, "--topic", topic, "--id", "r-17", input: body)
    #expect(sealed.status == 0, "\(sealed.error)")
    #expect(!sealed.output.contains("network_name"))
    let opened = try await client(
      "open", "--key", mine, "--from", daemonLine, "--topic", topic, input: sealed.output)
    #expect(opened.status == 0 && opened.output == body + "\n", "\(opened.error)")
    let wrapped = try await client(
      "open", "--key", mine, "--from", daemonLine, "--topic", topic,
      input: #"{"v":1,"sealed":\#(sealed.output)}"#)
    #expect(wrapped.output == body + "\n")
    let answer = try await client(
      "open", "--key", mine, "--from", daemonLine, "--topic", topic,
      input: #"{"v":1,"status":"ok","data":{"sealed":\#(sealed.output)},"transaction":"a"}"#)
    #expect(answer.output == body + "\n")

    for (arguments, code) in [
      (["--key", daemonKey, "--from", daemonLine, "--topic", topic], "unknown_kid"),
      (["--key", mine, "--from", unknownLine, "--topic", topic], "unknown_issuer"),
      (["--key", mine, "--from", daemonLine, "--topic", "elsewhere"], "wrong_topic"),
    ] {
      let refused = try await ThreadkeeperBinary.run(
        ["client", "open"] + arguments, input: .text(sealed.output))
      #expect(refused.status == 65 && refused.error.contains(code), "\(refused.error)")
      #expect(refused.output.isEmpty)
    }
    let event = try await client(
      "seal", "--key", daemonKey, "--to", line, "--topic", topic, "--seq", "7", "--event",
      input: body)
    #expect(event.output.hasPrefix(#"{"sealed":{"#))
  }

  @Test("Wrong usage has words and a status")
  func usage() async throws {
    let (file, line) = try await keygen("a.key")
    func seal(_ more: String..., input: String = "{}") async throws -> Int32 {
      try await ThreadkeeperBinary.run(
        ["client", "seal", "--key", file, "--topic", topic] + more, input: .text(input)
      ).status
    }
    #expect(try await seal("--to", line) == 64)
    #expect(try await seal("--to", line, "--seq", "1", "--id", "a") == 64)
    #expect(try await seal("--to", "tk1:abc:def", "--seq", "1") == 64)
    #expect(try await seal("--to", String(line.dropLast()), "--seq", "1") == 64)
    #expect(try await seal("--to", line, "--id", "a", "--lifetime", "301") == 64)
    #expect(try await seal("--to", line, "--seq", "1", input: "no JSON") == 65)
    #expect(
      try await seal(
        "--to", line, "--seq", "1",
        input: #"{"a":""# + String(repeating: "a", count: 20_000) + "\"}")
        == 65)
    #expect(try await seal("--to", line, "--seq", "1") == 0)
  }
}
