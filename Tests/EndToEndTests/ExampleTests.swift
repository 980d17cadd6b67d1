import Foundation
import TestKit
import Testing

/// One of the examples, run as readers would, with a home of its own.
private struct Example: Sendable {
  let path: String
  let home: TemporaryDirectory
  private let environment: [String: String]

  init(_ name: String) throws {
    path = "\(Program.tools)/\(name)"
    home = try TemporaryDirectory()
    // Empty is not set, whatever the tests' own environment says.
    environment = [
      "XDG_DATA_HOME": home.path, "THREADKEEPER_KEYCHAIN_DIRECTORY": "", "THREADKEEPER_KEYCHAIN_KEY_FILE": "",
      "THREADKEEPER_KEYCHAIN_PASSPHRASE_FILE": "", "THREADKEEPER_KEYCHAIN_GROUPS": "",
      "THREADKEEPER_STATE_DIRECTORY": home.path, "THREADKEEPER_SOCKET": "",
      "THREADKEEPER_STORE_PATH": home.file("store"), "THREADKEEPER_NETWORK_PRESENCE": "none",
    ]
  }

  func callAsFunction(_ arguments: String..., input: String = "") throws -> Program.Result {
    try Program.run(path, arguments, input: Array(input.utf8), environment: environment)
  }

  func atTerminal(_ arguments: String...) throws -> TerminalSession {
    try TerminalSession(
      program: path, arguments,
      environment: ProcessInfo.processInfo.environment.merging(environment) { $1 }.merging([
        "THREADKEEPER_NETWORK_PRESENCE": ""
      ]) { $1 })
  }
}

@Suite("The example keychain-client", .inTurns, .timeLimit(.minutes(30))) struct KeychainClientExampleTests {
  private let keychain: Example

  init() throws { keychain = try Example("KeychainClientExample") }

  @Test("sets, gets, lists, replaces and deletes; what it keeps is encrypted") func life() throws {
    #expect(try keychain("list").output == "")
    #expect(try keychain("set", "mail", input: "Sesame-4711\n").status == 0)
    #expect(try keychain("set", "bank 🔑", input: "geheim\n").status == 0)
    #expect(try keychain("get", "mail").output == "Sesame-4711\n")
    #expect(try keychain("list").output == "bank 🔑\nmail\n")
    #expect(try keychain("set", "mail", input: "Sesame-4712\n").status == 0)
    #expect(try keychain("get", "mail").output == "Sesame-4712\n")
    let files = try #require(FileManager.default.enumerator(atPath: keychain.home.path))
    var seen = 0
    for case let name as String in files {
      guard let bytes = FileManager.default.contents(atPath: keychain.home.file(name)) else { continue }
      seen += bytes.count
      #expect(bytes.range(of: Data("Sesame".utf8)) == nil, "\(name)")
    }
    #expect(seen > 1000)
    #expect(try keychain("delete", "mail").status == 0)
    #expect(try keychain("list").output == "bank 🔑\n")

    for command in ["get", "delete"] {
      let result = try keychain(command, "none")
      #expect(result.status == 1 && result.output.contains("(-25300)"))
    }
    let nothing = try keychain("set", "mail", input: "\n")
    #expect(nothing.status == 1 && nothing.output.contains("no password was given"))
    #expect(try keychain("set").status == 64)
    #expect(try keychain("get", "a", "b").status == 64)
    #expect(try keychain().output.hasPrefix("usage: "))
  }

  @Test("asks at a terminal once, hides what is typed, and bothers nobody afterwards") func terminal() async throws {
    let first = try keychain.atTerminal("get", "mail")
    try await first.until("No password for mail yet. Password: ")
    try await first.untilHidden()
    first.type("Sesame-4713\n")
    #expect(try await first.end() == 0)
    try await first.until("Sesame-4713\r\n")
    #expect(first.screen.components(separatedBy: "Sesame").count == 2, "printed, and not echoed")
    let second = try keychain.atTerminal("get", "mail")
    #expect(try await second.end() == 0)
    try await second.until("Sesame-4713\r\n")
    #expect(!second.screen.contains("Password"))
  }

  @Test("Many that keep the same name at once all succeed, and one of them is kept") func races() async throws {
    let passwords = (0..<4).map { "password \($0)" }
    try await withThrowingTaskGroup(of: Program.Result.self) { group in
      for password in passwords { group.addTask { try keychain("set", "common", input: password + "\n") } }
      for try await result in group { #expect(result.status == 0, "\(result.output)") }
    }
    let kept = try keychain("get", "common").output.trimmingCharacters(in: .newlines)
    #expect(passwords.contains(kept))
    #expect(try keychain("list").output == "common\n")
  }
}

@Suite("The example thread-client", .inTurns, .timeLimit(.minutes(30))) struct ThreadClientExampleTests {
  static let program = "\(Program.tools)/ThreadClientExample"
  private static let agent = "a1b2c3d4e5f60718"
  private let thread: Example

  init() throws { thread = try Example("ThreadClientExample") }

  @Test("stores, lists, checks and deletes, without showing a key, and says what is wrong") func life() throws {
    let dataset = try SampleNetwork.home.dataset(at: 1).hex
    #expect(try thread("list").output == "")
    #expect(try thread("preferred").output.contains("no preferred network"))
    #expect(try thread("store", Self.agent, input: dataset + "\n").status == 0)
    #expect(try thread("list").output == "a1b2c3d4e5f60718  home  1111111122222222  channel 15\n")
    #expect(try thread("check", input: dataset).output == "preferred\n")
    let guest = try SampleNetwork.guest.dataset(at: 1).hex
    #expect(try thread("check", input: guest).output == "not preferred\n")

    let preferred = try thread("preferred")
    #expect(preferred.status == 77 && preferred.output.contains("a person must agree"))
    #expect(!preferred.output.contains(SampleNetwork.home.networkKey))
    let cut = try thread("store", Self.agent, input: String(dataset.dropLast(2)))
    #expect(cut.status == 1 && cut.output.contains("truncated"))
    #expect(try thread("store", Self.agent, input: "xyz").output.contains("hexadecimal"))
    #expect(try thread("delete", "0000000000000009").output.contains("no credentials"))
    #expect(try thread("delete", Self.agent).status == 0)
    #expect(try thread("list").output == "")
    #expect(try thread("delete").status == 64)
    #expect(try thread().output.hasPrefix("usage: "))
  }

  @Test("asks at its terminal where no daemon runs, and shows credentials once a person agrees") func terminal()
    async throws
  {
    let dataset = try SampleNetwork.home.dataset(at: 1).hex
    #expect(try thread("store", Self.agent, input: dataset).status == 0)
    for (answer, status, isShown) in [("y\n", Int32(0), true), ("n\n", 77, false)] {
      let session = try thread.atTerminal("preferred")
      try await session.until("the Thread network \"home\" (1111111122222222)")
      try await session.until("Allow it? [y/N] ")
      session.type(answer)
      #expect(try await session.end() == status)
      #expect(session.screen.contains(SampleNetwork.home.networkKey) == isShown)
    }
  }
}

@Suite("What the library modules import") struct LibraryImportTests {
  /// Packages that ask `#if canImport(Security)` find the module, but not the C libraries below it: `make consumer`.
  @Test("The project's own modules are imported as implementation only", arguments: ["Security", "ThreadNetwork"])
  func hidden(module: String) throws {
    // The modules of the system.
    let visible: Set = ["Dispatch", "Foundation", "Glibc", "Musl", "Synchronization"]
    var found = 0
    for path in try ProjectFiles.below("Sources/\(module)") where path.hasSuffix(".swift") {
      for line in try ProjectFiles.text(of: path).split(separator: "\n") {
        let words = line.split(separator: " ")
        guard let place = words.firstIndex(of: "import"), place + 1 < words.count,
          words[..<place].allSatisfy({ $0.hasPrefix("@") || ["public", "internal"].contains($0) })
        else { continue }
        found += 1
        #expect(words[0] == "@_implementationOnly" || visible.contains(String(words[place + 1])), "\(path): \(line)")
      }
    }
    #expect(found > 0)
  }
}
