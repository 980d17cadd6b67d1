import Bridge
import Broker
import DaemonTestKit
import Foundation
import Home
import HomeStore
import Settings
import TestKit
import Testing
import ThreadRequests

@testable import Threadkeeper

@Suite("What commands print of who may have what, and how they end") struct AccessCommandsTests {
  @Test("Clients come and go, and every refusal has words and a status") func clients() async throws {
    let scene = try CommandScene()
    let line = try Identity().keys.line
    let own = try scene.context.bridge.identity.findOrMake(actor: "a test").keys.line
    try await scene.check(
      "clients.txt",
      [
        "clients enroll router \(line) --trust signed --label Attic", "clients list", "clients list --json",
        "clients enroll router \(line)", "clients enroll router \(line.dropLast())", "clients enroll router \(own)",
        "clients enroll a/b \(line)", "clients enroll a \(line) --home none", "clients enroll a \(line) --trust blind",
        "clients revoke nobody", "clients revoke router", "clients list",
      ])
  }

  /// A question that somebody has asked who is not there any more; its id.
  private func ask(_ user: ExactName, _ context: OperationContext) throws -> String {
    let request = RequestContext(Requester(.login(user), team: user), reply: .caller, actor: "a test")
    let answer = try context.bridge.loop.perform(.request(.getPreferred, request), in: "home").answer
    guard case .waiting(let id) = answer else { throw CancellationError() }
    return id.questionText
  }

  /// A question of a program that waits for the answer; its id.
  private func waits(_ scene: CommandScene) throws -> String {
    let loop = scene.context.bridge.loop
    _ = scene.context.bridge.requests.answer(
      LocalRequest(ThreadRequest(.getPreferred), user: 4_711, team: "tablet"), by: loop, isOwnUser: false,
      at: scene.clock.now())
    return try #require(loop.homes.home("home")?.questions.last).id.questionText
  }

  @Test("A question is listed, decided once and kept; a grant is listed and revoked") func consent() async throws {
    let place = try MovedStore()
    try place.fill()
    let scene = try CommandScene(store: place.store)
    // Lists are of the machine's time.
    let ahead = SystemClock().now().milliseconds - scene.clock.now().milliseconds
    scene.clock.jump(seconds: Int(ahead / 1_000))
    let tablet = try waits(scene)
    scene.clock.advance(seconds: 1)
    let grant = try #require(try ListGrants().perform(scene.context).grants.first).id
    try await scene.check(
      "consent.txt",
      [
        "consent list", "consent list --json", "consent approve c-0123456789abcdef",
        "consent approve \(tablet) --always", "consent approve \(tablet)", "consent deny \(tablet)", "consent list",
        "consent list --grants", "consent revoke \(grant)", "consent revoke \(grant)",
        "consent list --history --last 1 --json", "consent deny \(try ask("watch", scene.context))",
        "consent list --history", "consent ask a1b2c3d4e5f60718", "consent list --history --last=0",
        "consent list --last 1", "consent list --grants --history",
      ])
  }

  @Test("What cannot be a login, or is another daemon's, is refused before anybody is asked") func login() async throws
  {
    let scene = try CommandScene()
    let stdin = "login --password-stdin"
    try await scene.check(
      "login.txt",
      [stdin, "\(stdin) --username somebody", "login --remove --username a", "login --remove", "login --username a/b"])
    for password in ["\n", String(repeating: "x", count: 70_000)] {
      #expect(await scene.run(stdin, input: password).status == 65)
    }
    for mqtt in [
      "{host: broker.example, port: 9, username: keeper}", "{host: broker.example, username: somebody}", "{}",
    ] {
      try scene.put("mqtt: \(mqtt)\nstore: {path: \(scene.store.location.directory)}", "threadkeeper.yaml")
      let refused = await scene.run(stdin, input: "Sesame-wrong")
      #expect(refused.status == 78 && refused.output.isEmpty, "\(mqtt): \(refused)")
    }
    #expect(await scene.run("login --remove").error.contains("mqtt.host"))
  }

  @Test("A daemon with another broker or login has to stop before setup, which says how") func setup() async throws {
    for (daemon, wanted, words) in [
      ("{host: broker.example}", "{host: other.example}", "another broker (broker.example:1883)"),
      ("{host: broker.example, username: keeper}", "{host: broker.example, username: tk}", "another login (keeper)"),
      ("{host: embedded}", "{host: broker.example}", "another broker (its private one)"),
    ] {
      let scene = try CommandScene(mqtt: daemon)
      func check(_ mqtt: String) async throws {
        try scene.put("mqtt: \(mqtt)\nstore: {path: \(scene.store.location.directory)}", "threadkeeper.yaml")
        let settings = SettingsLoader.load(
          file: scene.configuration, environment: [:], stateDirectory: scene.store.path
        ).settings
        try await SetupStore(settings: #require(settings), isService: false).checkDaemon()
      }
      if !daemon.contains("embedded") { try await check(daemon) }
      let failure = await #expect(throws: CommandFailure.self) { try await check(wanted) }
      #expect(failure?.status == .temporary && failure?.message.contains(words) == true)
      #expect(failure?.remedy?.contains("nothing was written; stop it with Ctrl-C") == true)
    }
  }

  @Test("acl prints what a broker takes, and refuses names that would break it") func accessList() async throws {
    try await CommandScene("homes: {house: {base_topic: tk/house}, cabin: {base_topic: tk/cabin}}").check(
      "acl.txt",
      [
        "acl", "acl --daemon tk --monitor dashboard", "acl --append --keep nodered --approver ha", "acl --daemon a/b",
        "acl --daemon a+b", "acl --daemon #", "acl --daemon tk --monitor tk", "acl --append --keep-anonymous",
      ])
  }
}
