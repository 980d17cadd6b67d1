import ArgumentParser
import Broker
import ThreadDataset
import ThreadRequests
import ThreadkeeperSupport

/// `threadkeeper routers`
struct RoutersCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    "routers", "List the border routers, show, read, name or remove one, or accept one that is new.",
    """
    Without a subcommand it lists them, with the options of `list`.

    Examples:
      threadkeeper routers
      threadkeeper routers --json
      threadkeeper routers show a1b2c3d4e5f60718
      threadkeeper routers read a1b2c3d4e5f60718
      threadkeeper routers rename a1b2c3d4e5f60718 "Living room"
      threadkeeper routers remove a1b2c3d4e5f60718
      threadkeeper routers accept a1b2c3d4e5f60718
    """,
    subcommands: [
      RoutersListCommand.self, RoutersShowCommand.self, RoutersReadCommand.self, RoutersRenameCommand.self,
      RoutersRemoveCommand.self, RoutersAcceptCommand.self,
    ], defaultSubcommand: RoutersListCommand.self)
}

/// `threadkeeper routers`, also as `threadkeeper routers list`.
struct RoutersListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    "list", "List the border routers.",
    """
    Examples:
      threadkeeper routers
      threadkeeper routers --json | \\
        jq -r '.[] | select(.preferred == "mismatch") | .name'
      threadkeeper routers --json | \\
        jq '.[] | {name, thread_state, current_ext_pan_id}'

    THREAD is what the router reports of its Thread interface, with the network that it is on where
    that is another one than it is configured for (NETWORK). SOURCE is `mqtt` where a login has announced \
    the router, `mdns` where only its record on the local network says that it is there, and `meshcop` where \
    its dataset was read, too.
    """)

  @OptionGroup var options: CommandOptions

  func run() async throws {
    try await options.list(
      { _ in ListRouters() },
      [
        "BORDER AGENT ID": { $0.text("border_agent_id") }, "NAME": { $0.text("name") },
        "NETWORK": { $0.text("network_name") }, "CHANNEL": { $0["channel"]?.integer }, "THREAD": thread,
        "AVAILABILITY": availability, "CREDENTIALS": { $0.text("credentials") }, "PREFERRED": { $0.text("preferred") },
        "SOURCE": { $0.text("source") },
      ])
  }

  private func thread(_ router: JSONValue) -> String {
    let state = router.text("thread_state")
    guard let current = router["current_ext_pan_id"]?.text, current != router["ext_pan_id"]?.text else { return state }
    return state.isEmpty ? "on \(current)" : "\(state) on \(current)"
  }

  private func availability(_ router: JSONValue) -> String {
    let state = router.text("availability")
    return router["offline_reason"]?.text.map { "\(state) (\($0))" } ?? state
  }
}

extension JSONValue {
  /// A field of a state; empty where it is not there.
  func text(_ field: String) -> String { self[field]?.text ?? "" }
}

/// `threadkeeper routers show`
struct RoutersShowCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    "show", "Show all that is known of one border router.",
    """
    What is published of it, its alerts with those of the last day, and how it was in the last 30 days: of each \
    hour the worst. Hours in which the daemon did not run are unknown. Nothing secret is shown.

    Ends with 66 for an unknown id.

    Examples:
      threadkeeper routers show a1b2c3d4e5f60718
      threadkeeper routers show a1b2c3d4e5f60718 --json | jq .past
    """)

  @OptionGroup var argument: CredentialArgument
  @OptionGroup var options: CommandOptions

  func run() async throws {
    try await options.perform {
      try ShowRouter(home: argument.home.name($0), borderAgentId: argument.agent().description)
    } text: {
      $0.text
    }
  }
}

extension ShowRouter.Reply {
  fileprivate var text: String {
    var lines: [(String, String)] = []
    if case .object(let fields) = router {
      lines = fields.filter { $0.key != "version" }.sorted { $0.key < $1.key }.compactMap { name, value in
        value.words.map { (name.replacing("_", with: " "), $0) }
      }
    }
    lines.append(("last 30 days", past.words))
    let width = (lines.map(\.0.count).max() ?? 0) + 2
    let style = TerminalStyle(of: .output)
    return lines.map { $0 + String(repeating: " ", count: width - $0.count) + $1.printable + "\n" }.joined()
      + alerts.map { AlertsListCommand.text($0, style: style) }.joined()
  }
}

extension JSONValue {
  /// Nil where that is no single value.
  fileprivate var words: String? {
    switch self {
    case .bool(let value): value ? "yes" : "no"
    case .integer(let value): "\(value)"
    case .text(let text): text
    case .object(let fields):
      fields.sorted { $0.key < $1.key }.compactMap { name, value in value.words.map { "\(name) \($0)" } }.joined(
        separator: ", ")
    case .array(let values): values.compactMap(\.words).joined(separator: ", ")
    case .null: nil
    }
  }
}

/// `threadkeeper routers read`
struct RoutersReadCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    "read", "Read the datasets of a border router now.",
    """
    The daemon asks the router itself, over the local network, as one that has the credentials of its \
    network. It does so each hour, too, where the router allows it. What it has read is stored as \
    `threadkeeper routers` shows then; nothing secret is printed.

    Ends with 66 for an unknown id and for a network whose credentials are not stored, with 77 where the \
    router does not have them, with 69 where it takes no such session or gives no valid answer, and with 75 \
    while others are read.

    Examples:
      threadkeeper routers read a1b2c3d4e5f60718
      threadkeeper routers read a1b2c3d4e5f60718 --json
    """)

  @Argument(help: "The border agent id: 16 or 32 hex digits.") var borderAgentID: String
  @OptionGroup var options: CommandOptions

  func run() async throws {
    try await options.show {
      try await $0.perform(ReadRouter(borderAgentId: BorderAgentID(parameter: borderAgentID).description))
    } text: {
      $0.text
    }
  }
}

extension ReadRouter.Reply {
  fileprivate var text: String {
    let radio = [
      channel.map { "channel \($0)" }, panId.map { "PAN ID \($0)" }, activeTimestamp.map { "active timestamp \($0)" },
    ]
    var lines = [(["\(networkName.printable) (\(extPanId))"] + radio.compactMap(\.self)).joined(separator: ", ")]
    if let differs {
      lines.append(
        differs.isEmpty
          ? "It has the dataset of the preferred network."
          : "It differs from the preferred network: \(differs.joined(separator: ", ")).")
    }
    if let pending {
      let what = pending.channel.map { "to channel \($0)" } ?? "(\(pending.differs.joined(separator: ", ")))"
      lines.append("Its network changes \(what) in \(pending.seconds) s.")
    }
    return lines.joined(separator: "\n") + "\n"
  }
}

/// `threadkeeper routers rename`
struct RoutersRenameCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    "rename", "Give a border router a name, or its own again.",
    """
    It is shown by this name everywhere: in lists, alerts and Home Assistant, whatever it calls itself. It \
    keeps the name when it leaves and comes back within 30 days, not when you remove it. An empty name \
    takes it back, as `--undo` does.

    Ends with 66 for an unknown id.

    Examples:
      threadkeeper routers rename a1b2c3d4e5f60718 "Living room"
      threadkeeper routers rename a1b2c3d4e5f60718 --undo
    """)

  @OptionGroup var argument: CredentialArgument
  @Argument(help: "At most 128 characters.") var name: String?
  @Flag(help: "Show it as it calls itself.") var undo = false

  @OptionGroup var options: CommandOptions

  func validate() throws { guard undo == (name == nil) else { throw ValidationError("Give a name, or --undo.") } }

  func run() async throws {
    try await options.perform {
      try RenameRouter(home: argument.home.name($0), borderAgentId: argument.agent().description, name: name ?? "")
    } text: {
      $0.sentence + "\n"
    }
  }
}

extension RenameRouter.Reply {
  var sentence: String {
    guard let name = name.flatMap(ShownName.quoted) else {
      return "\(borderAgentId) has no name\(changed ? " any more" : ""), and is shown by its id."
    }
    return "\(borderAgentId) is called \(name) \(changed ? "now" : "already")."
  }
}

/// `threadkeeper routers remove`
struct RoutersRemoveCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    "remove", "Remove a border router that is gone, with all that is stored of it.",
    """
    For a router that cannot leave by itself any more: one that was thrown away, or that has \
    another border agent id since its factory reset. It leaves the list, its credentials and its owner \
    are deleted, its topics on the broker are emptied, and its alerts resolve. The preferred network \
    stays as it is. A router that announces itself again is listed again.

    Also to give the id to another team: it belongs to the next login that announces it with a dataset. \
    Stop the login that announced it before first.

    Ends with 66 for an unknown id.

    Examples:
      threadkeeper routers remove a1b2c3d4e5f60718
      threadkeeper routers remove a1b2c3d4e5f60718 --json
    """)

  @OptionGroup var argument: CredentialArgument
  @OptionGroup var options: CommandOptions

  func run() async throws {
    try await options.perform {
      try RemoveRouter(home: argument.home.name($0), borderAgentId: argument.agent().description)
    } text: {
      let credentials = $0.credentials ? ", and so are its credentials" : ""
      return "\($0.borderAgentId) is removed\(credentials).\n"
    }
  }
}

/// `threadkeeper routers accept`
struct RoutersAcceptCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    "accept", "End the alert about a border router that is new, or was reset.",
    """
    A router that was not there before and joins the preferred network has its credentials, so the \
    alert UnknownRouter names it until you accept it. One that was probably reset keeps its former name \
    then. Nothing else changes.

    Ends with 66 for an unknown id.

    Examples:
      threadkeeper routers accept a1b2c3d4e5f60718
      threadkeeper routers accept a1b2c3d4e5f60718 --json
    """)

  @OptionGroup var argument: CredentialArgument
  @OptionGroup var options: CommandOptions

  func run() async throws {
    try await options.perform {
      try AcceptRouter(home: argument.home.name($0), borderAgentId: argument.agent().description)
    } text: {
      $0.changed
        ? "\($0.borderAgentId) is accepted.\n"
        : "\($0.borderAgentId) needs no acceptance: it was there before, or is accepted already.\n"
    }
  }
}
