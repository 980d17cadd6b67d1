// SPDX-License-Identifier: Apache-2.0

import Foundation
import Home
import HomeStore
import KeychainCore
import TestKit
import Testing

@Suite("Consent by command", .inTurns, .timeLimit(.minutes(30)))
struct ConsentCommandTests {
  private static let topic = "threadkeeper/bridge/consent"

  /// Puts a request for the preferred network into a store that no daemon has open, as one that ended would have left
  /// it.
  ///
  /// - Parameter network: that is to be the preferred one.
  private func leave(
    in installation: Installation, of user: String, _ network: SampleNetwork
  ) throws -> String {
    let keychain = try Keychain.open(
      at: installation.location, with: .keyFile(path: installation.directory.file("store.key")))
    defer { keychain.close() }
    return try SealedRecords(keychain).inTransaction { records in
      var home = try StoredHome(
        "home", rules: HomeRules { .random(in: .min ... .max) }, in: records)
      let now = WireTime(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000))
      let dataset = try network.dataset(at: 1)
      let summary = try DatasetSummary(dataset, key: records.hashKey())
      var owner = RequestContext(
        Requester(.systemUser(0), team: "root"), reply: .caller, actor: "a test")
      owner.isAdministrator = true
      _ = home.handle(
        .request(.setPreferred(.dataset(try #require(summary))), owner), dataset: dataset,
        actor: "a test", at: now)
      let request = RequestContext(
        Requester(.login(ExactName(user)), team: ExactName(user)),
        reply: .topic(
          "threadkeeper/out/\(user)/response/preferred/get", correlation: nil,
          transaction: "r-17"), actor: "mqtt user \(user)")
      let output = home.handle(
        .request(.getPreferred, request), actor: "mqtt user \(user)", at: now)
      guard case .waiting(let id) = output.answer else { throw Unexpected() }
      try home.commit(to: records)
      return id.questionText
    }
  }

  private struct Unexpected: Error {}

  private let home = SampleNetwork.home.with { $0.name = "home-thread" }

  @Test("Without a daemon nothing can be looked at or approved; with one nothing waits yet")
  func nothing() async throws {
    let installation = try Installation(port: 1)
    try installation.makeStore()
    for command in [
      ["list"], ["approve", "c-0123456789abcdef"], ["revoke", "g-0123456789abcdef"],
    ] {
      let refused = try await installation.command(["consent"] + command)
      #expect(refused.status == 69 && refused.error.contains("no daemon runs"), "\(refused.error)")
    }
    try await installation.serving {
      #expect(try await installation.json("consent", "list") == ["pending": []])
      #expect(try await installation.json("consent", "list", "--grants") == ["grants": []])
      #expect(try await installation.json("consent", "list", "--history") == ["history": []])
      #expect(
        try await installation.command("consent", "list").output == "Nothing waits for consent.\n")
      let revoked = try await installation.command("consent", "revoke", "g-0123456789abcdef")
      #expect(revoked.status == 66 && revoked.error.contains("no such grant"))
    }
    for last in ["--last=-1", "--last=0"] {
      #expect(try await installation.command("consent", "list", "--history", last).status == 64)
    }
  }

  @Test("A request that outlived a restart is listed, announced, approved, and is over then")
  func approve() async throws {
    let broker = try TestBroker()
    let installation = try Installation(broker)
    try installation.makeStore()
    let id = try leave(in: installation, of: "phone", home)
    let audience = try await Audience.start(broker)
    let daemon = try await installation.start()
    try await audience.until("bridge/consent names it") {
      $0.state(Self.topic)?["head"]?.text == id
    }
    #expect(audience.state(Self.topic)?["requester"] == "login phone (team phone)")
    #expect(audience.state(Self.topic)?["network_name"] == "home-thread")

    let listed = try await installation.json("consent", "list")["pending"]?.list.first
    #expect(listed?["id"]?.text == id && listed?["command"] == "preferred/get")
    #expect(
      listed?["networks"] == [["ext_pan_id": "1111111122222222", "network_name": "home-thread"]])
    #expect(
      listed?["reason"]?.text?.contains(#"would get the network key of "home-thread""#) == true)
    let text = try await installation.command("consent", "list").output
    #expect(
      text.contains("login phone (team phone)") && text.contains("threadkeeper consent deny \(id)"))

    let unknown = try await installation.command("consent", "approve", "c-0123456789abcdef")
    #expect(unknown.status == 66 && unknown.error.contains("consent list"), "\(unknown.error)")
    let approved = try await installation.json("consent", "approve", id, "--always")
    let grant = try #require(approved["grant"]?.text)
    #expect(approved["outcome"] == "approved" && approved["scope"] == "always")
    try await audience.until("it is told") {
      $0.state(Self.topic)?["pending"] == 0
        && $0.events("consent_approved").first?["id"]?.text == id
    }
    let again = try await installation.command("consent", "approve", id)
    #expect(again.status == 66 && again.error.contains("approved already"))
    #expect(try await installation.command("consent", "deny", id).status == 66)

    let grants = try await installation.json("consent", "list", "--grants")["grants"]?.list
    #expect(
      grants?.first?["id"]?.text == grant
        && grants?.first?["requester"] == "login phone (team phone)")
    let revoked = try await installation.command("consent", "revoke", grant)
    #expect(revoked.status == 0 && revoked.output.contains("asked about again"))
    #expect(try await installation.command("consent", "revoke", grant).status == 66)
    #expect(try await installation.json("consent", "list", "--grants") == ["grants": []])
    let history = try await installation.json("consent", "list", "--history")["history"]?.list
    #expect(history?.map { $0["outcome"] } == ["revoked", "approved"])
    #expect(history?.last?["decided_by"]?.text == "uid \(geteuid()) (command line)")
    let shown = try await installation.command("consent", "list", "--history", "--last", "1").output
    #expect(shown.contains("revoked") && !shown.contains("approved"))

    let actions = try await installation.json("audit").list
      .filter { $0["actor"]?.text == "uid \(geteuid()) (command line)" }
      .flatMap { $0["changes"]?.list ?? [] }.compactMap { $0["action"]?.text }
    #expect(
      Set(actions).isSuperset(of: ["consent_approved", "consent_granted", "consent_revoked"]))
    try await daemon.stop()
    let report = try installation.verify()
    #expect(report.matchesManifest && report.isWhole && report.unreadable.isEmpty)
  }

  @Test("Denied: it is told, and leaves no grant")
  func deny() async throws {
    let broker = try TestBroker()
    let installation = try Installation(broker)
    try installation.makeStore()
    let id = try leave(in: installation, of: "phone", home)
    let audience = try await Audience.start(broker)
    let daemon = try await installation.start()
    let denied = try await installation.command("consent", "deny", id)
    #expect(denied.status == 0)
    #expect(
      denied.output == #"login phone (team phone) does not get "home-thread" (1111111122222222)."#
        + "\n")
    try await audience.until("it is told") {
      $0.events("consent_denied").first?["decided_by"]?.text?.hasPrefix("uid ") == true
    }
    #expect(try await installation.command("consent", "approve", id).status == 66)
    #expect(try await installation.json("consent", "list", "--grants") == ["grants": []])
    try await daemon.stop()
  }

  @Test("list --follow tells what waits, what comes and how it ends, over a restart of the daemon")
  func follow() async throws {
    let broker = try TestBroker()
    let installation = try Installation(broker)
    try installation.makeStore()
    let none = try await installation.command("consent", "list", "--follow")
    #expect(none.status == 69 && none.error.contains("no daemon runs"))
    let other = SampleNetwork.guest.with { $0.name = "attic" }
    let ids = [
      try leave(in: installation, of: "phone", home),
      try leave(in: installation, of: "tablet", home),
    ]
    let daemon = try await installation.start()
    let followed = installation.directory.file("followed")
    func follower(_ file: String, _ more: [String]) throws -> ChildProcess {
      try ChildProcess(
        ThreadkeeperBinary.executable.path,
        ["consent", "list", "--follow", "--config", installation.configuration] + more,
        environment: installation.environment,
        streams: (.nothing, .file(file), .file(installation.directory.file("follower.log"))))
    }
    func text(_ file: String) -> String {
      (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
    }
    func lines() -> [JSON] { text(followed).split(separator: "\n").compactMap { JSON(String($0)) } }
    let json = try follower(followed, ["--json"])
    let plain = try follower(followed + ".txt", [])
    defer { for one in [json, plain] { one.signal(SIGKILL) } }
    try await eventually("what waits") {
      lines().count == 2 && text(followed + ".txt").contains(ids[1])
    }
    #expect(lines().map { $0["event"] } == ["asked", "asked"])
    #expect(lines().map { $0["id"]?.text } == ids)
    #expect(lines().first?["reason"]?.text?.contains("home-thread") == true)
    #expect(try await installation.command("consent", "approve", ids[0], "--always").status == 0)
    try await eventually("its end") { lines().count == 3 }
    #expect(lines().last?["event"] == "approved" && lines().last?["id"]?.text == ids[0])
    #expect(lines().last?["scope"] == "always")

    #expect(try await daemon.stop() == .exit(0))
    let third = try leave(in: installation, of: "watch", other)
    let next = try await installation.start()
    try await eventually("the one that came") { lines().count == 4 }
    #expect(lines().last?["id"]?.text == third)
    #expect(try await installation.command("consent", "deny", third).status == 0)
    try await eventually("its end") { lines().count == 5 }
    #expect(lines().last?["event"] == "denied" && lines().last?["id"]?.text == third)
    try await eventually("the same as text") { text(followed + ".txt").contains("denied by uid") }
    #expect(text(followed + ".txt").split(separator: "\n").count == 5)
    #expect(text(followed + ".txt").contains("\(ids[0])  approved always by uid \(geteuid())"))

    // It comes and is over while nobody looks.
    json.signal(SIGSTOP)
    #expect(try await next.stop() == .exit(0))
    let fourth = try leave(in: installation, of: "lamp", other)
    let last = try await installation.start()
    #expect(try await installation.command("consent", "deny", fourth).status == 0)
    json.signal(SIGCONT)
    try await eventually("both at once") { lines().count == 7 }
    #expect(lines().suffix(2).map { $0["event"] } == ["asked", "denied"])
    #expect(lines().suffix(2).allSatisfy { $0["id"]?.text == fourth })
    #expect(lines()[5]["reason"] == nil && lines()[5]["requester"]?.text?.contains("lamp") == true)
    json.signal(SIGINT)
    #expect(json.wait() == .signal(SIGINT))
    #expect(try await last.stop() == .exit(0))
  }

  @Test("A hostile name moves no cursor")
  func hostileNames() async throws {
    let installation = try Installation(port: 1)
    try installation.makeStore()
    _ = try leave(
      in: installation, of: "a\u{1B}[2J\u{202E}b", home.with { $0.name = "n\r\nx\u{7}" })
    let text = try await installation.serving {
      try await installation.command("consent", "list").output
    }
    for scalar in ["\u{1B}", "\u{202E}", "\r", "\u{7}"] { #expect(!text.contains(scalar)) }
    #expect(
      text.contains(#"login "a[2Jb" (team "a[2Jb")"#) && text.contains(#""nx" (1111111122222222)"#))
  }
}
