import Glibc
import KeychainCore
import Logging
import Settings
import SodiumCrypto
import StatusPage
import ThreadkeeperSupport

/// The token of the status page in its file beside the store.
enum PageToken {
  /// - Parameter replacing: makes another one where there is one.
  /// - Throws: `CommandFailure`.
  static func findOrMake(_ settings: Settings, replacing: Bool) throws(CommandFailure) -> (text: String, isNew: Bool) {
    let file = settings.http.tokenFile(besideStore: settings.store.path)
    if let token = settings.http.token, !settings.http.isTokenFromFile {
      guard !replacing else {
        throw CommandFailure(
          .configuration, "the settings have a token of their own in `http.token`",
          remedy: "change it there, or remove it")
      }
      return (token.revealed, false)
    }
    if let token = settings.http.token, !replacing { return (token.revealed, false) }
    // Another process, as setup, may have made it after the daemon's start.
    if !replacing, let token = try? SecretInput.line(file, of: "token"), !token.isEmpty { return (token, false) }
    let token = make()
    try write(token, to: file)
    return (token, true)
  }

  /// Where a browser opens the page. Of several addresses, the one by which this machine reaches others, and they it.
  /// On loopback no other machine reaches it, so there a name is of a proxy, of which nothing is known here.
  static func link(_ http: Settings.HTTP, token: String) -> String { "\(address(http))?token=\(token)" }

  /// The same without the token.
  ///
  /// - Parameter own: an address of this machine that others reach.
  static func address(_ http: Settings.HTTP, own: () -> String? = { OwnAddress.find() }) -> String {
    let name = HostName.isLoopback(http.address) ? nil : http.names.first
    let isAny = http.address == "0.0.0.0" || http.address == "::"
    let address = name ?? (isAny ? own() ?? "127.0.0.1" : http.address)
    return "http://\(HostAndPort(address, http.port))/"
  }

  /// The same for other machines of the home; nil where they cannot open it, or only by a proxy on another machine.
  static func addressInHome(_ http: Settings.HTTP, own: () -> String? = { OwnAddress.find() }) -> String? {
    guard http.isEnabled, http.trustedProxy == nil, !HostName.isLoopback(http.address) else { return nil }
    let address = address(http, own: own)
    return address.hasPrefix("http://127.0.0.1:") ? nil : address
  }

  /// 32 random bytes in base64url (RFC 4648, 5), without padding.
  static func make() -> String { Base64.encode(RandomBytes.make(32), .urlSafe) }

  /// Only this user reads it; it is there whole, or not at all.
  private static func write(_ token: String, to file: String) throws(CommandFailure) {
    func failure(_ code: Int32) -> CommandFailure {
      CommandFailure(
        .cannotCreate, "\(file) cannot be written: \(String(cString: strerror(code)))",
        remedy: code == ENOENT ? "make the store first: `threadkeeper setup`" : nil)
    }
    let draft = "\(file).new"
    unlink(draft)
    let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw failure(errno) }
    let bytes = Array("\(token)\n".utf8)
    let isWritten = Glibc.write(descriptor, bytes, bytes.count) == bytes.count && fsync(descriptor) == 0
    let code = errno
    close(descriptor)
    guard isWritten, rename(draft, file) == 0 else {
      let reason = isWritten ? errno : code
      unlink(draft)
      throw failure(reason)
    }
    // Else a power cut brings the former token back.
    FilePath.syncDirectory(FilePath.directory(of: file))
  }
}

extension PageServer {
  init?(_ context: OperationContext, listening: @escaping @Sendable (_ port: Int) -> Void = { _ in }) {
    self.init(context.settings, source: PageFacts(context), logger: context.logger, listening: listening)
  }

  /// Nil where the settings want none, or where there is a token that cannot be read.
  ///
  /// - Parameter listening: called with the port, when it can be reached.
  package init?(
    _ settings: Settings, source: any PageSource, logger: Logger,
    listening: @escaping @Sendable (_ port: Int) -> Void = { _ in }
  ) {
    let http = settings.http
    guard http.isEnabled else { return nil }
    // Other users' commands may pass over a token file that they cannot read. Whoever listens may not, also not on
    // loopback: every user of the machine reaches it there.
    guard !http.isTokenUnreadable, http.token != nil || http.trustedProxy != nil || HostName.isLoopback(http.address)
    else {
      logger.error(
        "the HTTP server is not started: its token cannot be read",
        metadata: [
          "address": "\(http.address)",
          "remedy": "let the daemon's user read \(http.tokenFile(besideStore: settings.store.path)), then restart",
        ])
      return nil
    }
    self.init(
      PageConfiguration(http, addressBesideProxy: http.trustedProxy.map { _ in PageToken.address(http) }),
      source: source, logger: logger, listening: listening)
  }
}
