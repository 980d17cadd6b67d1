import ArgumentParser
import Home
import HomeStore
import LocalAPI
import Settings
import ThreadDataset
import ThreadRequests
import Wire

/// `threadkeeper preferred`
struct PreferredCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    "preferred", "Look at the preferred network, check a dataset against it, or choose another one.",
    subcommands: [
      PreferredShowCommand.self, PreferredCheckCommand.self, PreferredSetCommand.self, PreferredForgetCommand.self,
    ])
}

/// `threadkeeper preferred show`
struct PreferredShowCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    "show", "Show the preferred network. Its dataset only when asked for.",
    """
    A network that was chosen by its Extended PAN ID alone is checked for like any other, and has no \
    dataset. Then the command names the border routers that report credentials of it.

    With --history it lists the last eight networks that were preferred before, the newest first. Their keys are \
    kept, and never shown. An id names one for `threadkeeper preferred set` and `threadkeeper networks forget`.

    Examples:
      threadkeeper preferred show
      threadkeeper preferred show --show-secrets --json | jq -r .dataset
      last=$(threadkeeper preferred show --history --json | jq -r '.[0].id')
      threadkeeper preferred set "$last"
    """)

  @OptionGroup var home: HomeOption
  @Flag(help: "Print the dataset, which holds the network key.") var showSecrets = false
  @Flag(help: "List the networks that were preferred before.") var history = false
  @OptionGroup var options: CommandOptions

  func validate() throws {
    guard !showSecrets || !history else { throw ValidationError("Say one of --show-secrets and --history.") }
  }

  func run() async throws {
    guard history else {
      try await options.show {
        try await $0.perform(ShowPreferred(home: home.name($0), secret: showSecrets))
      } text: {
        $0.text(homeOption: home.home.map { " --home \($0)" } ?? "")
      }
      return
    }
    try await options.list(
      { ListFormerNetworks(home: try home.name($0)) },
      [
        "ID": { $0.id }, "NETWORK": { $0.networkName }, "EXTENDED PAN ID": { $0.extPanId }, "CHANNEL": { $0.channel },
        "TIMESTAMP": { $0.activeTimestamp.map(String.init) ?? "no dataset" }, "UNTIL": { $0.until },
      ], none: "No other network was preferred before.")
  }
}

/// `threadkeeper preferred forget`
struct PreferredForgetCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    "forget", "Let no network be the preferred one.",
    """
    The network is kept in the history. From then on no border router is checked, and no announcement \
    makes a network the preferred one: choose one with `threadkeeper preferred set`.

    Examples:
      threadkeeper preferred forget
      threadkeeper preferred set home
    """)

  @OptionGroup var home: HomeOption
  @OptionGroup var options: CommandOptions

  struct Report: Encodable { let kept: FormerNetworkRecord? }

  func run() async throws {
    try await options.show {
      var request = ThreadRequest(.forgetPreferred)
      request.home = try home.name($0)
      return Report(kept: try await $0.perform(request).forgotten?.first)
    } text: {
      let kept = $0.kept.map {
        let name = $0.networkName.isEmpty ? $0.extPanId : $0.networkName.printable
        return "\(name) is kept as \($0.id). "
      }
      return "No network is preferred now. \(kept ?? "")" + "Choose one with `threadkeeper preferred set`.\n"
    }
  }
}

/// `threadkeeper preferred check`
struct PreferredCheckCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    "check", "Say whether a dataset is that of the preferred network.",
    """
    match      all essential parameters are equal, whatever the timestamps
    mismatch   what is named differs
    none       no network is preferred yet, or the credentials of the preferred one are not here

    Example:
      ssh root@router ot-ctl dataset active -x | threadkeeper preferred check -

    Exit status: 0 for match, 1 for anything else, 65 for a dataset that is not sound.
    """)

  @Argument(help: "The dataset in hexadecimal digits, @FILE, or - for standard input.") var dataset: DatasetArgument

  @OptionGroup var home: HomeOption
  @OptionGroup var options: CommandOptions

  struct Report: Encodable {
    let result: AnswerData.Check
    let differs: [String]
  }

  func run() async throws {
    let report = try await options.show {
      var request = ThreadRequest(.checkPreferred)
      // After the settings: another host may have to read standard input.
      request.dataset = try dataset.readWhole(options.output)
      request.home = try home.name($0)
      let answer = try await $0.perform(request, isAdministrator: false, isRepeatable: true)
      guard let result = answer.result else { throw DaemonClient.unreadable }
      return Report(result: result, differs: answer.differs ?? [])
    } text: {
      let differs = $0.differs.listed
      return $0.result.rawValue + (differs.isEmpty ? "" : ": \(differs)") + "\n"
    }
    if report.result != .match { throw ExitCode(1) }
  }
}

/// `threadkeeper preferred set`
struct PreferredSetCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    "set", "Make another network the preferred one.",
    """
    Name a network of which credentials are stored, or that was preferred before, by its Extended \
    PAN ID or, where that is unique, by its name. Or name one that `threadkeeper preferred show --history` \
    lists by its id, or give a dataset. Where different keys of a network are known, name the router or the id \
    whose keys are right; p-current keeps those that the preferred network has. A network that border \
    routers were only seen on is named by its Extended PAN ID: its credentials can come later, by the same \
    command. All border routers are then checked again. The network that was preferred is kept in the history.

    Examples:
      threadkeeper preferred set 1111111122222222
      threadkeeper preferred set home
      threadkeeper preferred set p-5f3a9c01
      threadkeeper preferred set p-current
      threadkeeper preferred set 1111111122222222 --router a1b2c3d4e5f60718
      threadkeeper preferred set @dataset.hex

    Other users of the machine can read a dataset that stands on the command line.
    """)

  @Argument(
    help:
      "An Extended PAN ID (16 hex digits), a name, an id of the history, p-current, a dataset, @FILE, or - for stdin.")
  var network: String

  @Option(help: "The border agent id of the router whose dataset of this network is meant.") var router: String?

  @OptionGroup var home: HomeOption
  @OptionGroup var options: CommandOptions

  struct Report: Encodable {
    let changed: Bool
    /// Whose keys were taken, where they have changed.
    let source: String?
  }

  func run() async throws {
    let daemon = try options.daemon()
    let request = try request(home.name(daemon))
    let data = try await daemon.perform(request, isRepeatable: true)
    let changed = data.changed == true
    let keys = data.source.map { " Its keys are those of \($0.printable)." } ?? ""
    try options.output.show(
      Report(changed: changed, source: data.source),
      text: data.available == false
        ? "That is the preferred network now, and all border routers are checked again. Its "
          + "credentials are not here: see `threadkeeper preferred show`.\n"
        : changed
          ? "The preferred network is changed, and all border routers are checked again.\(keys) "
            + "`threadkeeper preferred show --history` lists what was preferred before.\n"
          : request.id == PreferredNetwork.currentID
            ? "The preferred network keeps its keys.\n" : "That is the preferred network already.\n")
  }

  private func request(_ home: String) throws -> ThreadRequest {
    var request = ThreadRequest(.setPreferred)
    request.home = home
    switch PreferredName(network) {
    case .network(let id): request.network = id
    case .former(let id): request.id = id
    case .name(let name): request.networkName = name
    case .dataset:
      let dataset = try DatasetArgument(argument: network)?.readWhole(options.output)
      guard dataset?.kind == .complete else {
        throw CommandFailure(.badInput, "expected an active dataset, not a pending one")
      }
      request.dataset = dataset
    }
    guard let router else { return request }
    guard let agent = BorderAgentID(hex: router) else {
      throw CommandFailure(.usage, "\(router.printable) is no border agent id", remedy: "expected 16 or 32 hex digits")
    }
    guard request.network != nil else {
      throw CommandFailure(.usage, "--router needs the network's Extended PAN ID beside it")
    }
    request.agent = agent
    return request
  }
}

/// What a person means by the argument of `preferred set`.
enum PreferredName: Hashable {
  case network(ExtendedPANID)
  /// An id of the history, or that of the one that is preferred.
  case former(String)
  case name(String)
  /// Hex digits, a file, or standard input.
  case dataset

  /// The most bytes of a network's name.
  private static let longestName = 16

  init(_ text: String) {
    if let network = ExtendedPANID(hex: text) {
      self = .network(network)
    } else if FormerNetwork.id(of: text) != nil || text == PreferredNetwork.currentID {
      self = .former(text)
    } else if text == "-" || text.hasPrefix("@") || text.utf8.count > Self.longestName {
      self = .dataset
    } else {
      self = .name(text)
    }
  }
}
