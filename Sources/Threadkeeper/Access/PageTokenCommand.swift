import ArgumentParser
import KeychainCore
import LocalAPI
import Logging
import Settings
import StatusPage

/// `threadkeeper page`
struct PageCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    "page", "Open the status page to a browser.", subcommands: [PageCodeCommand.self, PageTokenCommand.self])
}

/// `threadkeeper page code`
struct PageCodeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    "code", "Print a code of 8 digits that opens the status page in a browser, where a link is hard to type.",
    """
    The page asks a browser without its token for the code. It is valid for 10 minutes and once, until five wrong \
    ones were typed or another one is made; the daemon keeps it in memory alone. Who types it gets what the link of \
    `page token` gives. Root and members of the daemon's group may ask for it, too.

    Example:
      threadkeeper page code
    """)

  @OptionGroup var options: CommandOptions

  func run() async throws {
    try await options.perform({ _ in MakePageCode() }) {
      "The code of the status page: \($0.shownCode)\n"
        + "Open \($0.address) and type it there within \($0.minutes) minutes.\n"
    }
  }
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
    let (_, http, token) = try context.openPage(replacing: replacing)
    let file = http.tokenFile(besideStore: context.settings.store.path)
    return Reply(link: PageToken.link(http, token: token.text), file: file, made: token.isNew)
  }
}

/// A short code that opens the status page once. It takes the place of a former one; the token is made where there is
/// none.
struct MakePageCode: Operation {
  /// As of the link, which gives as much.
  var access: VarlinkAccess { .reader }

  /// Also what `page code --json` prints.
  struct Reply: Codable {
    /// 8 digits.
    var code: String
    var minutes: Int
    /// Where it is typed.
    var address: String

    /// As `1234 5678`.
    var shownCode: String { "\(code.prefix(4)) \(code.dropFirst(4))" }
  }

  func perform(_ context: OperationContext) throws -> Reply {
    let (page, http, _) = try context.openPage(replacing: false)
    let code = page.makeCode()
    context.logger.notice("the status page can be opened by a code", metadata: ["for": "\(context.actor)"])
    return Reply(code: code.digits, minutes: code.minutes, address: PageToken.address(http))
  }
}

extension OperationContext {
  /// The page, where it is reached, and its token, which is made where there is none.
  ///
  /// - Parameter replacing: makes another token.
  fileprivate func openPage(replacing: Bool) throws -> (PageServer, Settings.HTTP, token: (text: String, isNew: Bool)) {
    var http = settings.http
    guard http.isEnabled else {
      throw CommandFailure(
        .unavailable, "the status page is off", remedy: "set `http.enabled: true`, and restart the daemon")
    }
    guard let page else {
      let file = http.tokenFile(besideStore: settings.store.path)
      throw CommandFailure(
        .unavailable, "there is no status page: its token cannot be read",
        remedy: "let the daemon's user read \(file), and restart the daemon")
    }
    if case .listening(let port) = page.condition.current { http.port = UInt16(clamping: port) }
    let token = try page.findOrMakeToken(replacing: replacing) {
      try PageToken.findOrMake(settings, replacing: replacing).text
    }
    if token.isNew { logger.notice("the status page has a new token", metadata: ["for": "\(actor)"]) }
    return (page, http, token)
  }
}
