import Broker
import Foundation
import TestKit
import Testing

@testable import Threadkeeper

@Suite("What a client does without a store") struct ClientKeyCommandsTests {
  private static let topic = "threadkeeper/out/phone/response/ping"
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private func client(_ words: [String], input: String = "{}") async -> CommandScene.Outcome {
    await CommandScene.run(["client"] + words, input: input)
  }

  private func keygen(_ name: String) async throws -> (file: String, line: String) {
    let file = directory.file(name)
    let made = await client(["keygen", "--out", file])
    try #require(made.status == 0, "\(made.error)")
    return (file, String(try #require(made.output.split(separator: "\n").first)))
  }

  private func seal(_ key: String, to line: String, _ more: [String] = ["--id", "r-17"], input: String = "{}") async
    -> CommandScene.Outcome
  { await client(["seal", "--key", key, "--to", line, "--topic", Self.topic] + more, input: input) }

  @Test("A key file is made once, for its owner only, and one that others can read is refused") func keyFile()
    async throws
  {
    let (path, line) = try await keygen("client.key")
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    #expect(mode == 0o600)
    let again = await client(["keygen", "--out", path])
    #expect(again.status == 73 && again.error.contains("already"))
    let sealed = await seal(path, to: line)
    #expect(sealed.status == 0, "\(sealed.error)")
    // What it holds is in no output.
    let secret = try #require(try String(contentsOfFile: path, encoding: .utf8).split(separator: " ").last)
    for text in [line, sealed.output, again.error] { #expect(!text.contains(secret.prefix(20))) }
    for loose: mode_t in [0o640, 0o604, 0o660] {
      chmod(path, loose)
      let refused = await seal(path, to: line)
      #expect(refused.status == 77 && refused.error.contains("chmod 600"))
    }
    chmod(path, 0o600)
    try Data("something else\n".utf8).write(to: URL(fileURLWithPath: path))
    #expect(await seal(path, to: line).status == 65)
    #expect(await seal(directory.file("none"), to: line).status == 66)
    #expect(await seal(directory.path, to: line).status == 66)
  }

  @Test(
    "A key file of another user is refused with that user's name",
    .enabled(if: getuid() == 0, "only root can give a file away")) func anothersKeyFile() async throws
  {
    let (file, line) = try await keygen("router.key")
    let nobody = try #require(getpwuid(65534).map { String(cString: $0.pointee.pw_name) })
    #expect(chown(file, 65534, 65534) == 0)
    let refused = await seal(file, to: line)
    #expect(refused.status == 77 && refused.error.contains("belongs to \(nobody)"))
  }

  @Test("A sealed message opens only with its recipient's key, its sender's line and its topic") func sealAndOpen()
    async throws
  {
    let (mine, line) = try await keygen("phone.key")
    let (daemonKey, daemonLine) = try await keygen("keeper.key")
    let (_, unknownLine) = try await keygen("unknown.key")
    let body = #"{"status":"ok","data":{"network_name":"Zuhause 🏠"}}"#
    let sealed = await seal(daemonKey, to: line, input: body)
    #expect(sealed.status == 0, "\(sealed.error)")
    #expect(!sealed.output.contains("network_name"))
    let right = ["open", "--key", mine, "--from", daemonLine, "--topic", Self.topic]
    for payload in [
      sealed.output, #"{"v":1,"sealed":\#(sealed.output)}"#,
      #"{"v":1,"status":"ok","data":{"sealed":\#(sealed.output)},"transaction":"a"}"#,
    ] {
      let opened = await client(right, input: payload)
      #expect(opened.status == 0 && opened.output == body + "\n", "\(opened.error)")
    }
    for (place, word, code) in [
      (2, daemonKey, "unknown_kid"), (4, unknownLine, "unknown_issuer"), (6, "elsewhere", "wrong_topic"),
    ] {
      var words = right
      words[place] = word
      let refused = await client(words, input: sealed.output)
      #expect(refused.status == 65 && refused.error.contains(code), "\(refused.error)")
      #expect(refused.output.isEmpty)
    }
    let event = await seal(daemonKey, to: line, ["--seq", "7", "--event"], input: body)
    #expect(event.output.hasPrefix(#"{"sealed":{"#))
  }

  @Test(
    "A refusal of the daemon has its code in the message, and a status",
    arguments: [
      ("consent_denied", 77), ("not_enrolled", 77), ("not_found", 66), ("stale_id", 66), ("rate_limited", 75),
      ("consent_expired", 75), ("replayed", 75), ("invalid_payload", 65), ("unsupported", 69), ("read_only", 74),
    ]) func refusals(_ code: String, _ status: Int32)
  {
    let answer = #"{"v":1,"status":"error","error":{"code":"\#(code)","message":"no","field":"id"}}"#
    let failure = #expect(throws: CommandFailure.self) {
      try ClientAnswer(Array(answer.utf8), to: "t", keys: nil, topic: "a", needsSeal: false)
    }
    #expect(failure?.status.rawValue == status && failure?.message == "\(code): no (field id)")
  }

  @Test("Wrong usage has a status") func usage() async throws {
    let (file, line) = try await keygen("a.key")
    let long = #"{"a":""# + String(repeating: "a", count: 20_000) + "\"}"
    for (status, to, more, input) in [
      (64, line, [], "{}"), (64, line, ["--seq", "1", "--id", "a"], "{}"), (64, "tk1:abc:def", ["--seq", "1"], "{}"),
      (64, String(line.dropLast()), ["--seq", "1"], "{}"), (64, line, ["--id", "a", "--lifetime", "301"], "{}"),
      (65, line, ["--seq", "1"], "no JSON"), (65, line, ["--seq", "1"], long), (0, line, ["--seq", "1"], "{}"),
    ] as [(Int32, String, [String], String)] {
      let outcome = await seal(file, to: to, more, input: input)
      #expect(outcome.status == status, "\(to) \(more): \(outcome.error)")
    }
  }
}
