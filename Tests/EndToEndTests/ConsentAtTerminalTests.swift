import Foundation
import LocalAPI
import Synchronization
import TestKit
import Testing
import ThreadDataset
import ThreadRequests

/// A daemon within the test: which questions wait, and what becomes of a decision, a real one leaves to chance.
private final class ScriptedDaemon: Sendable {
  struct Decision: Sendable {
    let request: ThreadRequest
    let isAdministrator: Bool?
  }

  private struct State {
    var transaction: String?
    var decisions: [Decision] = []
    var answer: ThreadAnswer?
  }

  let directory: TemporaryDirectory
  let path: String
  let dataset: OperationalDataset
  private let state = Mutex(State())
  private let listener = Mutex<VarlinkServer?>(nil)
  /// What waits after so many decisions, for the transaction of the call.
  private let waiting: @Sendable (_ decisions: Int, _ transaction: String) -> [WaitingQuestion]
  /// What is answered to each decision, by its number.
  private let verdict: @Sendable (_ number: Int) -> ThreadAnswer

  init(
    waiting: @escaping @Sendable (Int, String) -> [WaitingQuestion] = { decisions, transaction in
      decisions > 0 ? [] : [question("c-own", transaction)]
    }, verdict: @escaping @Sendable (Int) -> ThreadAnswer = { _ in ThreadAnswer(AnswerData()) }
  ) throws {
    directory = try TemporaryDirectory()
    path = directory.file("client.sock")
    dataset = try SampleNetwork.home.dataset(at: 1)
    self.waiting = waiting
    self.verdict = verdict
    let endpoints = RequestMethods.interfaces.flatMap { RequestMethods.methods(of: $0) }.map { command, method in
      method.answered { [weak self] fields, caller in
        do throws(AnswerFailure) {
          let request = try ThreadRequest(command, fields)
          let answer = self?.answer(request, fields.asAdministrator, caller)
          return try answer?.result() ?? AnswerData()
        } catch { throw VarlinkError(error) }
      }
    }
    let listener = try VarlinkServer(
      path: path,
      service: VarlinkService(
        .init(vendor: "a", product: "a", version: "1", url: ""), interfaces: RequestMethods.interfaces,
        endpoints: endpoints, failure: { _ in VarlinkError("io.threadkeeper.Failed") }))
    self.listener.withLock { $0 = listener }
  }

  deinit { listener.withLock { $0?.stop() } }

  static func question(_ id: String, _ transactions: String..., reason: String = "this one would get it")
    -> WaitingQuestion
  {
    var question = WaitingQuestion()
    (question.id, question.expiresAt) = (id, "2026-11-21T04:38:00Z")
    (question.transactions, question.reason) = (transactions, reason)
    return question
  }

  /// Those of the person at the terminal.
  func decisions(_ count: Int) async throws -> [Decision] {
    try await eventually("\(count) decisions") { state.withLock { $0.decisions.count } == count }
    return state.withLock { $0.decisions }
  }

  var hasDecisions: Bool { state.withLock { !$0.decisions.isEmpty } }

  /// Answers what the calls wait for.
  func give(_ isGiven: Bool) throws {
    var data = AnswerData()
    data.credentials = [
      CredentialRecord(agent: nil, network: try #require(dataset.extendedPANID), dataset: dataset, isActive: false)
    ]
    let answer = isGiven ? ThreadAnswer(data) : ThreadAnswer(AnswerFailure(.consentDenied, "a person has refused it"))
    state.withLock { $0.answer = answer }
  }

  private func answer(_ request: ThreadRequest, _ isAdministrator: Bool?, _ caller: VarlinkCaller) -> ThreadAnswer {
    switch request.command {
    case .isPreferredAvailable:
      var data = AnswerData()
      data.available = true
      return ThreadAnswer(data)
    case .getPreferred:
      state.withLock { $0.transaction = request.transaction }
      while true {
        if let answer = state.withLock({ $0.answer }) { return answer }
        do { try caller.wait(until: .now + .milliseconds(5)) } catch {
          return ThreadAnswer(AnswerFailure(.consentDenied, "it has hung up"))
        }
      }
    case .pendingConsents:
      let (transaction, count) = state.withLock { ($0.transaction, $0.decisions.count) }
      var data = AnswerData()
      data.pending = transaction.map { waiting(count, $0) } ?? []
      return ThreadAnswer(data)
    default:
      let number = state.withLock { state in
        state.decisions.append(Decision(request: request, isAdministrator: isAdministrator))
        return state.decisions.count
      }
      return verdict(number)
    }
  }

  private var environment: [String: String] {
    [
      "PATH": "/usr/bin:/bin", "HOME": directory.path, "THREADKEEPER_SOCKET": path,
      "THREADKEEPER_NETWORK_HOME": "cabin", "PS1": "ready> ", "TERM": "dumb",
    ]
  }

  /// The example at a terminal, or a program that runs it there.
  func terminal(
    _ program: String = ThreadClientExampleTests.program, _ arguments: [String] = ["preferred"],
    _ more: [String: String] = [:]
  ) throws -> TerminalSession {
    try TerminalSession(program: program, arguments, environment: environment.merging(more) { $1 })
  }

  /// Waits for the dataset in a file that a program writes to.
  func untilGiven(in file: String) async throws {
    try await eventually("the dataset") {
      let output = (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
      return output.contains(dataset.hex)
    }
  }
}

/// Programs at a terminal, whose questions a daemon has.
@Suite("Consent at the program's terminal", .inTurns, .timeLimit(.minutes(30))) struct ConsentAtTerminalTests {
  private static let prompt = "Allow it? [once/always/no] "

  private func check(_ session: TerminalSession, status: Int32, shows dataset: String?, isShown: Bool = false)
    async throws
  {
    #expect(try await session.end() == status, "\(session.screen)")
    #expect(session.isEchoing)
    if let dataset { #expect(session.screen.contains(dataset) == isShown, "\(session.screen)") }
  }

  @Test("The daemon's own user is asked who wants what and why, and says once, no, always") func asked() async throws {
    let scene = try await AskingHome.start()
    let dataset = try scene.home.hex()
    // "No" holds for a while, and always for good, so they come in this order.
    let once = try scene.program()
    try await once.until(Self.prompt)
    let requester = try #require(try await scene.installation.questions().first?["requester"]?.text)
    #expect(requester.contains("uid \(geteuid())"), "\(requester)")
    #expect(requester.hasSuffix(#", program calls itself "ThreadClientExample""#), "\(requester)")
    let question = #"\#(requester) would get the network key of "home-thread""#
    #expect(once.screen.contains(question), "\(once.screen)")
    #expect(once.screen.contains("devices can be put onto the network"))
    once.type("perhaps\n")
    try await once.until("Type once, always or no: ")
    #expect(!once.screen.contains(dataset))
    once.type("once\n")
    try await check(once, status: 0, shows: dataset, isShown: true)

    let always = try scene.program()
    try await always.until(Self.prompt)
    always.type("always\n")
    try await check(always, status: 0, shows: dataset, isShown: true)
    let granted = try scene.program()
    try await check(granted, status: 0, shows: dataset, isShown: true)
    #expect(!granted.screen.contains("Allow it?"))

    let grant = try #require(try await scene.installation.json("consent", "list", "--grants")["grants"]?.list.first)
    #expect(grant["requester"]?.text == requester)
    let id = try #require(grant["id"]?.text)
    #expect(try await scene.installation.command("consent", "revoke", id).status == 0)
    // Ctrl-C decides nothing; the next one joins the question that still waits.
    let interrupted = try scene.program()
    try await interrupted.until(Self.prompt)
    interrupted.type("\u{3}")
    #expect(try await interrupted.end() != 0)
    #expect(interrupted.isEchoing)
    #expect(try await scene.installation.questions().count == 1)
    let no = try scene.program()
    try await no.until(Self.prompt)
    no.type("\n")
    try await check(no, status: 77, shows: dataset)
    let outcomes = try await scene.history().map { $0["outcome"] }
    #expect(outcomes == ["denied", "revoked", "approved", "approved"])
    let by: JSON = .text("uid \(geteuid()) (command line)")
    #expect(try await scene.history().allSatisfy { $0["decided_by"] == by })
    try await scene.running.stop()
  }

  @Test(
    "A user who may not decide is shown the waiting request, but no network",
    .enabled(if: geteuid() == 0, "only root can be others")) func otherUser() async throws
  {
    let directory = try TemporaryDirectory()
    // Others must be able to go through.
    chmod(directory.path, 0o711)
    let socket = directory.file("run/client.sock")
    let scene = try await AskingHome.start("clients: {socket: \(socket)}\nclient_users: {61001: hub}")
    let session = try TerminalSession(
      program: "/usr/bin/setpriv",
      ["--reuid=61001", "--regid=61001", "--clear-groups", ThreadClientExampleTests.program, "preferred"],
      environment: scene.installation.environment.merging(["THREADKEEPER_SOCKET": socket, "HOME": "/dev/null"]) { $1 }
        .merging(TestSandbox.uncounted) { $1 })
    let id = try await scene.question()
    try await session.until("`threadkeeper consent approve \(id)`")
    #expect(session.screen.contains("Waiting for consent, up to 1"))
    #expect(!session.screen.contains("Allow it?") && !session.screen.contains("home-thread"))
    #expect(try await scene.installation.command("consent", "approve", id).status == 0)
    try await check(session, status: 0, shows: try scene.home.hex(), isShown: true)
    try await scene.running.stop()
  }

  @Test("Of several that ask the same, the person is asked what this call waits for, and no other") func own()
    async throws
  {
    let daemon = try ScriptedDaemon { decisions, transaction in
      let other = ScriptedDaemon.question("c-other", "somebody's", reason: "another would get it")
      guard decisions == 0 else { return [other] }
      return [ScriptedDaemon.question("c-own", "joined", transaction), other]
    }
    let session = try daemon.terminal()
    try await session.until(Self.prompt)
    #expect(session.screen.contains("this one would get it"))
    session.type("always\n")
    let decision = try #require(try await daemon.decisions(1).first)
    try daemon.give(false)
    try await check(session, status: 77, shows: daemon.dataset.hex)
    #expect(!session.screen.contains("another would get it"))
    let request = decision.request
    #expect(request.command == .approveConsent && request.id == "c-own")
    #expect(request.scope == .always && decision.isAdministrator == true && request.home == "cabin")
  }

  @Test("A decision for which the daemon has no time is brought again, without a question") func busy() async throws {
    let daemon = try ScriptedDaemon { decisions, transaction in
      decisions > 1 ? [] : [ScriptedDaemon.question("c-own", transaction)]
    } verdict: { number in
      number > 1 ? ThreadAnswer(AnswerData()) : ThreadAnswer(AnswerFailure(.rateLimited, "too many"))
    }
    let session = try daemon.terminal()
    try await session.until(Self.prompt)
    session.type("no\n")
    #expect(try await daemon.decisions(2).map(\.request.command) == [.denyConsent, .denyConsent])
    try daemon.give(false)
    try await check(session, status: 77, shows: nil)
    #expect(session.screen.components(separatedBy: Self.prompt).count == 2)
  }

  @Test("What the daemon refuses is said, and the person is asked again while there is no answer") func again()
    async throws
  {
    let daemon = try ScriptedDaemon { decisions, transaction in
      // The first one is still shown when it is decided already.
      [ScriptedDaemon.question("c-1", transaction, reason: "the first would get it")]
        + (decisions < 2 ? [] : [ScriptedDaemon.question("c-2", transaction, reason: "the second would get it")])
    } verdict: { number in
      number > 1
        ? ThreadAnswer(AnswerData()) : ThreadAnswer(AnswerFailure(.notAuthorized, "there are 500 grants already"))
    }
    let session = try daemon.terminal()
    try await session.until(Self.prompt)
    session.type("always\n")
    try await session.until("the daemon refuses it: ")
    try await session.until(Self.prompt, count: 2)
    session.type("once\n")
    try await session.until("the second would get it")
    try await session.until(Self.prompt, count: 3)
    session.type("once\n")
    #expect(try await daemon.decisions(3).map(\.request.id) == ["c-1", "c-1", "c-2"])
    try daemon.give(true)
    try await check(session, status: 0, shows: daemon.dataset.hex, isShown: true)
  }

  @Test("Somebody else is faster: the question goes away, and the program goes on") func elsewhere() async throws {
    for (isGiven, status) in [(true, Int32(0)), (false, 77)] {
      let daemon = try ScriptedDaemon()
      let session = try daemon.terminal()
      try await session.until(Self.prompt)
      session.type("onc")
      try daemon.give(isGiven)
      try await check(session, status: status, shows: daemon.dataset.hex, isShown: isGiven)
      #expect(session.screen.contains("No answer is needed any more."))
    }
  }

  @Test("Without a terminal, and where it is switched off, nobody is asked and nothing is shown") func nobody()
    async throws
  {
    let daemon = try ScriptedDaemon()
    let off = try daemon.terminal(
      ThreadClientExampleTests.program, ["preferred"], ["THREADKEEPER_NETWORK_PRESENCE": "none"])
    let detached = try daemon.terminal("/usr/bin/setsid", ["--wait", ThreadClientExampleTests.program, "preferred"])
    try daemon.give(false)
    for session in [off, detached] {
      try await check(session, status: 77, shows: daemon.dataset.hex)
      #expect(!session.screen.contains("Allow it?") && !session.screen.contains("Waiting"))
    }
    #expect(!daemon.hasDecisions)
  }

  @Test("Put into the background it leaves the terminal to the shell, and writes nothing there") func background()
    async throws
  {
    for stopsWriters in [false, true] {
      let daemon = try ScriptedDaemon()
      let output = daemon.directory.file("given")
      let shell = try daemon.terminal("/bin/bash", ["--norc", "--noprofile", "-i"])
      try await shell.until("ready> ")
      // On a line of its own: of a command that is stopped the shell forgets what it has set.
      shell.type(stopsWriters ? "stty tostop\n" : "true\n")
      try await shell.until("ready> ", count: 2)
      shell.type("'\(ThreadClientExampleTests.program)' preferred\(stopsWriters ? " > '\(output)'" : "")\n")
      try await shell.until(Self.prompt)
      shell.type("\u{1A}")
      try await shell.until("Stopped")
      shell.type("bg; echo in the background\n")
      try await shell.until("in the background", count: 2)
      // What is typed is the shell's, letter by letter, while the question is still open.
      shell.type("echo $((6 * 7)) \"once\"\n")
      try await shell.until("42 once")
      #expect(!daemon.hasDecisions)
      try daemon.give(true)
      if stopsWriters {
        try await daemon.untilGiven(in: output)
        #expect(!shell.screen.contains("No answer is needed"))
      } else {
        try await shell.until(daemon.dataset.hex)
      }
      shell.type("exit\n")
      #expect(try await shell.end() == 0)
    }
  }

  @Test("A terminal that is closed has said nothing: the program waits for somebody else") func hungUp() async throws {
    let daemon = try ScriptedDaemon()
    let output = daemon.directory.file("given")
    let session = try daemon.terminal(
      "/bin/sh", ["-c", "trap '' HUP; exec \"$0\" preferred > \"$1\"", ThreadClientExampleTests.program, output])
    try await session.until(Self.prompt)
    session.hangUp()
    try daemon.give(true)
    try await daemon.untilGiven(in: output)
    #expect(!daemon.hasDecisions)
  }
}
