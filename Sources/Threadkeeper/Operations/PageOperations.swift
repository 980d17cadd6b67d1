import LocalAPI
import Logging
import Settings
import StatusPage

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
