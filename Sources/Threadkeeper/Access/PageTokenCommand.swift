import ArgumentParser
import KeychainCore
import LocalAPI
import Logging
import Settings
import StatusPage

/// `threadkeeper page`
struct PageCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    "page", "Open the status page to a browser.", subcommands: [PageTokenCommand.self])
}

/// `threadkeeper page token`
struct PageTokenCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    "token", "Print the link with the token of the status page, which is made where there is none.",
    """
    The running daemon takes the token at once; it lies in a file beside the store, and is read where the \
    settings have no `http.token`. A browser that has opened the link once shows the page and makes changes, \
    until there is another token. Root and members of the daemon's group may ask for it, too; --new is for root \
    and the daemon's user.

    Examples:
      threadkeeper page token
      threadkeeper page token --new
    """)

  @Flag(
    help: ArgumentHelp(
      "Make another token; links and browsers with the previous one are not let in any more; "
        + "a fleet's node after its restart.")) var new = false

  @OptionGroup var options: CommandOptions

  /// The token that another address needs may be what is to be made.
  static let onLoopback = ["THREADKEEPER_HTTP_ADDRESS": "127.0.0.1"]

  func run() async throws {
    // A fleet has the page of its nodes, and no daemon of one store.
    let isFleet = options.settings.read(assuming: Self.onLoopback).settings?.store.url != nil
    let (page, next) = try await isFleet ? make() : askOrMake()
    try options.output.show(page, text: "\(page.link)\n\(next)")
  }

  private func askOrMake() async throws -> (OpenPage.Reply, next: String) {
    let daemon = DaemonClient(settings: try options.settings.loadOfStore(assuming: Self.onLoopback))
    var next = ""
    let page = try await daemon.perform(OpenPage(replacing: new)) {
      try daemon.checkIsFree()
      let made = try make()
      next = made.next
      return made.0
    }
    return (page, next)
  }

  /// Without a daemon.
  private func make() throws -> (OpenPage.Reply, next: String) {
    let settings = try options.settings.load(assuming: Self.onLoopback)
    try OpenStore.checkMaking(settings)
    let token = try PageToken.findOrMake(settings, replacing: new)
    // Now that there is one, the address may be any.
    let link = PageToken.link(try options.settings.load().http, token: token.text)
    let file = settings.http.tokenFile(besideStore: settings.store.path)
    return (OpenPage.Reply(link: link, file: file, made: token.isNew), next: Self.next(settings, isNew: token.isNew))
  }

  /// What is left to do where no daemon has taken the token.
  private static func next(_ settings: Settings, isNew: Bool) -> String {
    guard settings.http.isEnabled else { return "The page is off: set `http.enabled: true`, and start the daemon.\n" }
    guard settings.store.url != nil else { return "Start the daemon, then open this link.\n" }
    return isNew ? "Restart this node, then open this link.\n" : ""
  }
}

/// The link that opens the status page with its token, which is made where there is none. It counts at once.
struct OpenPage: Operation {
  /// Makes another token: the former one is refused from then on.
  var replacing: Bool

  /// Members of the daemon's group decide on the page. Only the owner replaces the token that others use.
  var access: VarlinkAccess { replacing ? .owner : .reader }

  /// Also what `page token --json` prints.
  struct Reply: Codable {
    var link: String
    var file: String
    /// Whether the token was made for this.
    var made: Bool
  }

  func perform(_ context: OperationContext) throws -> Reply {
    var settings = context.settings
    let file = settings.http.tokenFile(besideStore: settings.store.path)
    guard settings.http.isEnabled else {
      throw CommandFailure(
        .unavailable, "the status page is off", remedy: "set `http.enabled: true`, and restart the daemon")
    }
    guard let page = context.page else {
      throw CommandFailure(
        .unavailable, "there is no status page: its token cannot be read",
        remedy: "let the daemon's user read \(file), and restart the daemon")
    }
    if case .listening(let port) = page.condition.current { settings.http.port = UInt16(clamping: port) }
    let token = try page.findOrMakeToken(replacing: replacing) {
      try PageToken.findOrMake(settings, replacing: replacing).text
    }
    if token.isNew { context.logger.notice("the status page has a new token", metadata: ["for": "\(context.actor)"]) }
    return Reply(link: PageToken.link(settings.http, token: token.text), file: file, made: token.isNew)
  }
}
