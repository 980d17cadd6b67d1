// SPDX-License-Identifier: Apache-2.0

import Foundation
import HomeStore
import KeychainCore
import TestKit
import Testing
import ThreadDataset

@testable import Home

/// Programs at a terminal, whose questions a daemon has.
@Suite("Consent at the program's terminal", .inTurns, .timeLimit(.minutes(30)))
struct ConsentAtTerminalTests {
  private static let prompt = "Allow it? [once/always/no] "

  @Test("The daemon's own user is asked who wants what and why, and says once, no, always")
  func asked() async throws {
    let scene = try await AskingHome.start()
    // "No" holds for a while, and always for good, so they come in this order.
    let once = try scene.program()
    try await once.until(Self.prompt)
    let requester = try #require(try await scene.waiting().first?["requester"]?.text)
    #expect(requester.contains("uid \(geteuid())"), "\(requester)")
    #expect(requester.hasSuffix(#", program calls itself "ThreadClientExample""#), "\(requester)")
    let question = #"\#(requester) would get the network key of "home-thread""#
    #expect(once.screen.contains(question), "\(once.screen)")
    #expect(once.screen.contains("devices can be put onto the network"))
    once.type("perhaps\n")
    try await once.until("Type once, always or no: ")
    try scene.check(once, told: false)
    once.type("once\n")
    #expect(try await once.end() == 0)
    try scene.check(once, told: true)

    let always = try scene.program()
    try await always.until(Self.prompt)
    always.type("always\n")
    #expect(try await always.end() == 0)
    let granted = try scene.program()
    #expect(try await granted.end() == 0)
    #expect(!granted.screen.contains("Allow it?"))
    try scene.check(granted, told: true)

    let grant = try #require(
      try await scene.installation.json("consent", "list", "--grants")["grants"]?.list.first)
    #expect(grant["requester"]?.text == requester)
    let id = try #require(grant["id"]?.text)
    #expect(try await scene.installation.command("consent", "revoke", id).status == 0)
    let no = try scene.program()
    try await no.until(Self.prompt)
    no.type("\n")
    #expect(try await no.end() == 77)
    try scene.check(no, told: false)
    let outcomes = try await scene.history().map { $0["outcome"] }
    #expect(outcomes == ["denied", "revoked", "approved", "approved"])
    let by: JSON = .text("uid \(geteuid()) (command line)")
    #expect(try await scene.history().allSatisfy { $0["decided_by"] == by })
    #expect(try await scene.daemon.stop() == .exit(0))
  }

  /// As many grants as there may be, of others.
  private func fillGrants(of installation: Installation) throws {
    let keychain = try Keychain.open(
      at: installation.location, with: .keyFile(path: installation.directory.file("store.key")))
    defer { keychain.close() }
    let network = ConsentNetwork(
      id: try #require(ExtendedPANID(hex: "1111111122222222")), name: "home-thread", team: nil,
      key: nil)
    var home = Home(rules: HomeRules { .random(in: .min ... .max) })
    var changes = RecordChanges()
    changes.records.append(
      .init(
        id: RecordID(1), home: 1, state: HomeNote(name: "home", base: "threadkeeper").record))
    for number in 1...UInt64(Home.mostGrants) {
      let id = ConsentID(number)
      home.grants.append(
        ConsentGrant(
          id: id, requester: Requester(.login(ExactName("user-\(number)")), team: "many"),
          subject: ConsentSubject(.preferred, [network]), createdAt: WireTime(milliseconds: 1_000),
          by: .commandLine(user: 0)))
      changes.records.append(
        .init(id: RecordID(1 + Int64(number)), home: 1, state: home.record(.grant(id))))
    }
    try SealedRecords(keychain).commit(changes)
  }

  @Test("What the daemon refuses is said, and the same question asked again: once is not too late")
  func refused() async throws {
    let scene = try await AskingHome.start { installation in
      try installation.makeStore()
      try fillGrants(of: installation)
    }
    let session = try scene.program()
    try await session.until(Self.prompt)
    session.type("always\n")
    try await session.until("the daemon refuses it: there are 500 grants already")
    try await session.until(Self.prompt, count: 2)
    try scene.check(session, told: false)
    session.type("once\n")
    #expect(try await session.end() == 0)
    try scene.check(session, told: true)
    #expect(try await scene.history().map { $0["scope"]?.text } == ["once"])
    #expect(try await scene.daemon.stop() == .exit(0))
  }

  @Test("Somebody else is faster: the question goes away, and the program goes on")
  func elsewhere() async throws {
    let scene = try await AskingHome.start()
    for (verb, status, told) in [("approve", Int32(0), true), ("deny", 77, false)] {
      let session = try scene.program()
      try await session.until(Self.prompt)
      session.type("onc")
      #expect(try await scene.installation.command("consent", verb, scene.question()).status == 0)
      #expect(try await session.end() == status)
      #expect(session.screen.contains("No answer is needed any more."))
      try scene.check(session, told: told)
    }
    #expect(try await scene.history().map { $0["outcome"] } == ["denied", "approved"])
    #expect(try await scene.daemon.stop() == .exit(0))
  }

  @Test("Without a terminal, and where it is switched off, nobody is asked and nothing is shown")
  func nobody() async throws {
    let scene = try await AskingHome.start()
    let off = try scene.program(["THREADKEEPER_NETWORK_PRESENCE": "none"])
    let id = try await scene.question()
    // The same question, of a program without a terminal: whether it comes before the decision or after
    // it, the answer is the same.
    let detached = try ChildProcess(
      "/usr/bin/setsid", ["--wait", ThreadClientExampleTests.program, "preferred"],
      environment: scene.environment, streams: (.nothing, .nothing, .nothing))
    #expect(off.screen == "")
    #expect(try await scene.installation.command("consent", "deny", id).status == 0)
    #expect(try await off.end() == 77)
    #expect(!off.screen.contains("Allow it?") && !off.screen.contains("Waiting"))
    try scene.check(off, told: false)
    #expect(detached.wait() == .exit(77))
    #expect(try await scene.history().count == 1)
    #expect(try await scene.daemon.stop() == .exit(0))
  }

  @Test(
    "A user who may not decide is shown the waiting request, but no network",
    .enabled(if: geteuid() == 0, "only root can be others"))
  func otherUser() async throws {
    let directory = try TemporaryDirectory()
    // Others must be able to go through.
    chmod(directory.path, 0o711)
    let socket = directory.file("run/client.sock")
    let scene = try await AskingHome.start(
      "clients: {socket: \(socket)}\nclient_users: {61001: hub}")
    let session = try TerminalSession(
      program: "/usr/bin/setpriv",
      [
        "--reuid=61001", "--regid=61001", "--clear-groups", ThreadClientExampleTests.program,
        "preferred",
      ],
      environment: scene.installation.environment.merging([
        "THREADKEEPER_SOCKET": socket, "HOME": "/dev/null",
      ]) { $1 }.merging(TestSandbox.uncounted) { $1 })
    let id = try await scene.question()
    try await session.until("`threadkeeper consent approve \(id)`")
    #expect(session.screen.contains("Waiting for consent, up to 1"))
    #expect(!session.screen.contains("Allow it?") && !session.screen.contains("home-thread"))
    #expect(try await scene.installation.command("consent", "approve", id).status == 0)
    #expect(try await session.end() == 0)
    try scene.check(session, told: true)
    #expect(try await scene.daemon.stop() == .exit(0))
  }

  @Test("Of two homes each program is asked about its own, and decides nothing about the other")
  func homes() async throws {
    let scene = try await AskingHome.start(
      "homes: {home: {base_topic: threadkeeper}, cabin: {base_topic: cabin}}", home: "home")
    let cabin = try ThreadNetwork("cabin-thread")
    let publisher = try await TestPublisher.start(scene.broker)
    try await publisher.publish([
      BorderRouter("a1b2c3d4e5f60719", base: "cabin").announces(try cabin.hex())
    ])
    try await eventually("the preferred network of the cabin") {
      try await AskingHome.isPreferred(scene.installation, in: "cabin")
    }
    // It waits for the first home, and there is no terminal.
    let other = try ChildProcess(
      "/usr/bin/setsid", ["--wait", ThreadClientExampleTests.program, "preferred"],
      environment: scene.environment, streams: (.nothing, .nothing, .nothing))
    let id = try await scene.question()
    let session = try scene.program(["THREADKEEPER_NETWORK_HOME": "cabin"])
    try await session.until(Self.prompt)
    #expect(session.screen.contains(#"the network key of "cabin-thread""#), "\(session.screen)")
    #expect(session.screen.contains(", home cabin:"), "\(session.screen)")
    #expect(!session.screen.contains("home-thread"))
    session.type("once\n")
    #expect(try await session.end() == 0)
    #expect(session.screen.contains(try cabin.hex()))
    #expect(try await scene.question() == id, "the other one still waits")
    #expect(try await scene.installation.command("consent", "deny", id).status == 0)
    #expect(other.wait() == .exit(77))
    #expect(try await scene.daemon.stop() == .exit(0))
  }

  /// What runs in the shell, once it asks.
  private func putIntoBackground(_ shell: TerminalSession) async throws {
    try await shell.until(Self.prompt)
    shell.type("\u{1A}")
    try await shell.until("Stopped")
    shell.type("bg; echo in the background\n")
    try await shell.until("in the background", count: 2)
  }

  @Test("In the background of a terminal that stops who writes there it writes nothing and goes on")
  func tostop() async throws {
    let scene = try await AskingHome.start()
    let output = scene.installation.directory.file("told")
    let shell = try await scene.shell()
    // On a line of its own: of a command that is stopped the shell forgets what it has set.
    shell.type("stty tostop\n")
    try await shell.until("ready> ", count: 2)
    shell.type("'\(ThreadClientExampleTests.program)' preferred > '\(output)'\n")
    try await putIntoBackground(shell)
    #expect(
      try await scene.installation.command("consent", "approve", scene.question()).status == 0)
    try await scene.untilTold(in: output)
    #expect(!shell.screen.contains("No answer is needed"))
    shell.type("exit\n")
    #expect(try await shell.end() == 0)
    #expect(try await scene.daemon.stop() == .exit(0))
  }

  @Test("Put into the background it leaves the terminal to the shell, where it can be approved")
  func background() async throws {
    let scene = try await AskingHome.start()
    let shell = try await scene.shell()
    shell.type("'\(ThreadClientExampleTests.program)' preferred\n")
    try await putIntoBackground(shell)
    // What is typed is the shell's, letter by letter, while the question is still open.
    let id = try await scene.question()
    shell.type(
      "'\(ThreadkeeperBinary.executable.path)' consent approve \(id)"
        + " --config '\(scene.installation.configuration)'\n")
    try await shell.until(try scene.home.hex())
    try await shell.until(#"gets "home-thread""#)
    #expect(try await scene.history().map { $0["outcome"] } == ["approved"])
    shell.type("exit\n")
    #expect(try await shell.end() == 0)
    #expect(try await scene.daemon.stop() == .exit(0))
  }

  @Test("A terminal that is closed has said nothing: the program waits for somebody else")
  func hungUp() async throws {
    let scene = try await AskingHome.start()
    let output = scene.installation.directory.file("told")
    let session = try TerminalSession(
      program: "/bin/sh",
      [
        "-c", "trap '' HUP; exec \"$0\" preferred > \"$1\"", ThreadClientExampleTests.program,
        output,
      ],
      environment: scene.environment)
    try await session.until(Self.prompt)
    session.hangUp()
    let id = try await scene.question()
    #expect(try await scene.installation.command("consent", "approve", id).status == 0)
    try await scene.untilTold(in: output)
    #expect(try await scene.history().map { $0["outcome"] } == ["approved"])
    #expect(try await scene.daemon.stop() == .exit(0))
  }

  @Test(
    "Ctrl-C at the question ends the program, decides nothing, and leaves the terminal as it was")
  func interrupted() async throws {
    let scene = try await AskingHome.start()
    let session = try scene.program()
    try await session.until(Self.prompt)
    session.type("\u{3}")
    #expect(try await session.end() != 0)
    try scene.check(session, told: false)
    #expect(try await scene.waiting().count == 1)
    #expect(try await scene.history().isEmpty)
    // It asks again, and joins the question that still waits.
    let again = try scene.program()
    try await again.until(Self.prompt)
    again.type("once\n")
    #expect(try await again.end() == 0)
    try scene.check(again, told: true)
    #expect(try await scene.history().count == 1)
    #expect(try await scene.daemon.stop() == .exit(0))
  }
}
