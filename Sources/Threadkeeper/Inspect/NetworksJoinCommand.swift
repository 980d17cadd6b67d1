import ArgumentParser
import Home
import HomeStore
import MeshCoP
import Settings
import ThreadDataset
import ThreadRequests

/// `threadkeeper networks join`
struct NetworksJoinCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    "join", "Get the credentials of a network by the code that one of its border routers shows.",
    """
    The app of a border router of Thread 1.4 shows a code of nine digits for a few minutes, with which others \
    get the network's credentials. The daemon waits 30 seconds for a router that shows one, asks it, and stores \
    what came. Where the network is preferred by its Extended PAN ID alone, these are its credentials from then \
    on. Where no network is preferred, you are asked; --prefer prefers it without asking, also in place of \
    another one, or of other keys.

    Ten wrong codes close a router for others, too, so one that looks mistyped is tried only where you say so, \
    by --anyway or when asked. Where several routers show codes, name the one with --router.

    Ends with 64 for what is no code, 66 where no router shows one, 69 where it does not answer or none is \
    looked for, 75 where it takes no code any more, 77 where the code is wrong.

    Examples:
      threadkeeper networks join 916371366
      threadkeeper networks join 916 371 366 --router a1b2c3d4e5f60718
      threadkeeper networks join 916371366 --prefer --json
    """)

  @Argument(help: "Nine digits; spaces and hyphens do not matter.") var code: [String]
  @Option(help: "The border agent id of the router that shows the code: 16 or 32 hex digits.") var router: String?
  @Flag(help: "Try the code also where its last digit does not fit the others.") var anyway = false
  @Flag(help: "Make the network the preferred one.") var prefer = false
  @OptionGroup var options: CommandOptions

  struct Report: Encodable {
    let reply: JoinNetwork.Reply
    /// Whether the network was made the preferred one, or its keys were.
    let changed: Bool

    private enum Field: CodingKey { case changed }

    func encode(to encoder: any Encoder) throws {
      try reply.encode(to: encoder)
      var fields = encoder.container(keyedBy: Field.self)
      try fields.encode(changed, forKey: .changed)
    }
  }

  func run() async throws {
    let daemon = try options.daemon()
    let join = try await operation()
    let reply = try await read(join, daemon)
    let mayPrefer = reply.result != .preferred && reply.result != .completed
    var isChanged = false
    if mayPrefer, try await isPreferred(reply) { isChanged = try await prefer(reply, daemon) }
    let meaning =
      isChanged ? "It is the preferred network now." : reply.meaning(isOnlyHome: daemon.settings.homes.count < 2)
    try options.output.show(Report(reply: reply, changed: isChanged), text: "\(reply.came) \(meaning)\n")
  }

  private func operation() async throws -> JoinNetwork {
    let text = code.joined()
    guard let code = RouterCode(text) else { throw JoinNetwork.noCode }
    let agent = try router.map { text throws(CommandFailure) in try BorderAgentID(parameter: text) }
    let isMistyped = !code.isChecked && !anyway
    if isMistyped {
      guard TerminalPrompt.isPossible else { throw JoinNetwork.mistyped }
      let isMeant = try await agrees(
        "The last digit of the code does not fit the others, so it is probably mistyped. Try it all the same?")
      guard isMeant else { throw CancellationError() }
    }
    return JoinNetwork(code: text, borderAgentId: agent?.description, anyway: anyway || isMistyped)
  }

  private func read(_ join: JoinNetwork, _ daemon: DaemonClient) async throws -> JoinNetwork.Reply {
    let line = WaitingLine()
    defer { line.end() }
    line.show("Waiting for the border router")
    return try await daemon.perform(join, within: .seconds(90))
  }

  /// Whether a person wants to prefer it, who sees what came.
  private func isPreferred(_ reply: JoinNetwork.Reply) async throws -> Bool {
    if prefer { return true }
    guard reply.result == .undecided, TerminalPrompt.isPossible else { return false }
    return try await agrees("\(reply.came) No network is preferred. Prefer it?")
  }

  private func prefer(_ reply: JoinNetwork.Reply, _ daemon: DaemonClient) async throws -> Bool {
    var request = ThreadRequest(.setPreferred)
    request.home = reply.home
    request.network = ExtendedPANID(hex: reply.extPanId)
    request.agent = BorderAgentID(hex: reply.borderAgentId)
    return try await daemon.perform(request, isRepeatable: true).changed == true
  }

  private func agrees(_ question: String) async throws -> Bool {
    let answer = try await TerminalPrompt.ask("\(question) [y/N] ")
    return ["y", "yes"].contains(answer?.lowercased())
  }
}
