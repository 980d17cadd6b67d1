import CLibAvahi
import Glibc

/// One client of avahi-daemon, from its first call to its failure. It lives on one thread.
///
/// libavahi-client cannot use a client again that has failed, which it does when avahi-daemon ends. Then a new session
/// waits for the next one (`AVAHI_CLIENT_NO_FAIL`).
final class AvahiSession {
  /// Multicast DNS (RFC 6762, section 3). Another domain would be asked for with unicast.
  private static let domain = "local"

  /// avahi-daemon answers in milliseconds. libdbus waits for 25 seconds.
  private static let answerLimit = Duration.seconds(5)

  private let type: String
  private let output: BrowserOutput
  private var table: ServiceTable
  private var browser: OpaquePointer?
  private var resolvers: [String: OpaquePointer] = [:]
  private var names: [OpaquePointer: String] = [:]
  private var query: ServiceQuery?
  private var failure: DiscoveryObstacle?

  init(type: String, limits: ServiceLimits, output: BrowserOutput) {
    self.type = type
    self.output = output
    table = ServiceTable(limits: limits, now: .now)
  }

  /// Whether everything that was there has been reported.
  var wasListed: Bool { table.isListed }

  /// Browses until it fails or the output is stopped.
  ///
  /// - Returns: why it failed; nil when it was stopped.
  func run(on loop: PollLoop) -> DiscoveryObstacle? {
    var code: Int32 = 0
    // Valid for all callbacks: they are made below this function.
    let own = Unmanaged.passUnretained(self).toOpaque()
    let client = avahi_client_new(loop.interface, AVAHI_CLIENT_NO_FAIL, AvahiCallbacks.client, own, &code)
    guard let client else { return DiscoveryObstacle(ofNewClient: code) }
    // Closes the connection first, and then frees the browser and the resolvers as well, without a call that blocks.
    defer { avahi_client_free(client) }
    query = loop.interface.map { poll in
      ServiceQuery(
        type: "\(type).\(Self.domain)", poll: poll,
        answered: { [unowned self] name in perform(table.queryAnswered(name), client) },
        flooded: { [unowned self] in table.queriesFlooded() })
    }
    defer { query = nil }
    while failure == nil, !output.isStopping {
      guard loop.iterate(until: min(table.nextTick ?? table.nextQuery, table.nextQuery)) else {
        return output.isStopping ? nil : .noResources
      }
      perform(table.tick(.now) + table.query(.now), client)
    }
    return failure
  }

  // MARK: What the callbacks bring

  func clientChanged(_ client: OpaquePointer, _ state: AvahiClientState) {
    switch state {
    case AVAHI_CLIENT_S_REGISTERING, AVAHI_CLIENT_S_RUNNING, AVAHI_CLIENT_S_COLLISION:
      if browser == nil { browse(client) }
    case AVAHI_CLIENT_CONNECTING: output.report(.unavailable(.noDaemon))
    default: fail(client)
    }
  }

  func browserReported(_ client: OpaquePointer, _ event: AvahiBrowserEvent, _ seen: SeenService) {
    guard failure == nil else { return }
    switch event {
    case AVAHI_BROWSER_NEW:
      guard let name = seen.name else {
        output.refuse(1)
        let reason = "its name has control characters, or is not UTF-8"
        return output.report(.unusable(name: seen.shownName, reason: reason))
      }
      perform(table.appeared(name, on: seen.path), client)
    case AVAHI_BROWSER_REMOVE:
      guard let name = seen.name else { return output.report(.lost(name: seen.shownName)) }
      perform(table.disappeared(name, on: seen.path), client)
    case AVAHI_BROWSER_ALL_FOR_NOW: perform(table.allForNow(), client)
    case AVAHI_BROWSER_FAILURE: fail(client)
    default: break  // AVAHI_BROWSER_CACHE_EXHAUSTED: the network is being asked.
    }
  }

  /// - Parameter answer: nil when there is none, or its host name is invalid.
  func resolverAnswered(_ client: OpaquePointer, _ resolver: OpaquePointer, _ answer: ResolvedService?) {
    guard failure == nil, let name = names[resolver] else { return }
    guard let answer else { return perform(table.failed(name, at: .now), client) }
    let record = ServiceRecord(
      name: name, host: answer.host, address: answer.address, port: answer.port, text: answer.text)
    perform(table.resolved(record, at: .now), client)
  }

  func refuse() { output.refuse(1) }

  // MARK: What is asked of avahi-daemon

  private func perform(_ actions: [ServiceTable.Action], _ client: OpaquePointer) {
    for action in actions where failure == nil && !output.isStopping {
      switch action {
      case .resolve(let name, let path): resolve(name, path, client)
      case .release(let name): release(name)
      case .report(let update): output.report(update)
      case .refuse(let count): output.refuse(count)
      case .query(let name, let paths): if query?.send(name, on: paths) != true { table.querySendingFailed(name) }
      case .endQueries: query?.end()
      case .browseAgain:
        if let browser { avahi_service_browser_free(browser) }
        browse(client)
      }
    }
  }

  private func browse(_ client: OpaquePointer) {
    browser = avahi_service_browser_new(
      client, Int32(AVAHI_IF_UNSPEC), Int32(AVAHI_PROTO_UNSPEC), type, Self.domain, AvahiLookupFlags(0),
      AvahiCallbacks.browser, Unmanaged.passUnretained(self).toOpaque())
    if browser == nil { fail(client) }
  }

  /// The resolver stays: it also reports changes, and fails when the host's last address has expired.
  private func resolve(_ name: String, _ path: ServicePath, _ client: OpaquePointer) {
    let asked = ContinuousClock.now
    let resolver = avahi_service_resolver_new(
      client, path.interface, path.protocol, name, type, Self.domain, Int32(AVAHI_PROTO_UNSPEC), AvahiLookupFlags(0),
      AvahiCallbacks.resolver, Unmanaged.passUnretained(self).toOpaque())
    if let resolver {
      resolvers[name] = resolver
      names[resolver] = name
      return
    }
    // No answer ends the session, for the next one would not come either. A refusal is about this service alone.
    if asked.duration(to: .now) > Self.answerLimit { return fail(client, with: .noDaemon) }
    output.refuse(1)
    perform(table.failed(name, at: .now), client)
  }

  private func release(_ name: String) {
    guard let resolver = resolvers.removeValue(forKey: name) else { return }
    names[resolver] = nil
    avahi_service_resolver_free(resolver)
  }

  private func fail(_ client: OpaquePointer, with obstacle: DiscoveryObstacle? = nil) {
    if failure == nil { failure = obstacle ?? DiscoveryObstacle(code: avahi_client_errno(client)) }
  }
}

/// What a browser says of a service.
struct SeenService {
  /// Nil when it is invalid, and where the event is not about a service.
  var name: String?
  /// With U+FFFD for each character that cannot be shown.
  var shownName: String
  var path: ServicePath
}

/// What a resolver says of a service.
struct ResolvedService {
  var host: String
  var address: String?
  var port: UInt16
  var text: TXTRecord
}

/// libavahi-client's callbacks: they check what came from the network, and hand it to the `AvahiSession` that is their
/// user data.
enum AvahiCallbacks {
  /// RFC 6763, section 4.1.1.
  static let maximumNameBytes = 63
  /// RFC 1035, section 2.3.4.
  static let maximumHostBytes = 255

  static let client: AvahiClientCallback = { client, state, session in
    guard let client else { return }
    AvahiCallbacks.session(session)?.clientChanged(client, state)
  }

  static let browser: AvahiServiceBrowserCallback = { browser, interface, family, event, name, _, _, _, session in
    guard let browser, let client = avahi_service_browser_get_client(browser) else { return }
    let seen = SeenService(
      name: CheckedText.text(name, limit: maximumNameBytes),
      shownName: CheckedText.shown(name, limit: maximumNameBytes),
      path: ServicePath(interface: interface, protocol: family))
    AvahiCallbacks.session(session)?.browserReported(client, event, seen)
  }

  static let resolver: AvahiServiceResolverCallback = {
    resolver, interface, _, event, _, _, _, host, address, port, text, _, session in
    guard let resolver, let client = avahi_service_resolver_get_client(resolver),
      let session = AvahiCallbacks.session(session)
    else { return }
    guard event == AVAHI_RESOLVER_FOUND else { return session.resolverAnswered(client, resolver, nil) }
    guard let host = CheckedText.text(host, limit: maximumHostBytes) else {
      session.refuse()
      return session.resolverAnswered(client, resolver, nil)
    }
    let answer = ResolvedService(
      host: host, address: Self.text(address, on: interface), port: port, text: TXTRecord(entries: entries(text)))
    session.resolverAnswered(client, resolver, answer)
  }

  private static func session(_ pointer: UnsafeMutableRawPointer?) -> AvahiSession? {
    pointer.map { Unmanaged<AvahiSession>.fromOpaque($0).takeUnretainedValue() }
  }

  /// A link-local address names its interface: `fe80::1%eth0` (RFC 4007, section 11).
  private static func text(_ address: UnsafePointer<AvahiAddress>?, on interface: Int32) -> String? {
    guard let address else { return nil }
    let text = withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(AVAHI_ADDRESS_STR_MAX)) { buffer in
      avahi_address_snprint(buffer.baseAddress, buffer.count, address).map { String(cString: $0) }
    }
    guard let text, text.hasPrefix("fe80:"), interface > 0 else { return text }
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(IF_NAMESIZE)) { buffer in
      if_indextoname(UInt32(interface), buffer.baseAddress).map { "\(text)%\(String(cString: $0))" }
    }
  }

  /// The strings of a TXT record. One more than `TXTRecord` takes, so that it notices.
  private static func entries(_ list: UnsafeMutablePointer<AvahiStringList>?) -> [[UInt8]] {
    var entries: [[UInt8]] = []
    var item = list
    while let current = item, entries.count <= TXTRecord.maximumEntries {
      let text = avahi_string_list_get_text(current)
      let size = avahi_string_list_get_size(current)
      entries.append(Array(UnsafeBufferPointer(start: text, count: size)))
      item = avahi_string_list_get_next(current)
    }
    return entries
  }
}

/// libavahi's event loop. One thread runs it; any other may end it.
// @unchecked: the thread that runs it is the only one that touches it, except by avahi_simple_poll_quit, which sets
// a flag and writes to a pipe.
final class PollLoop: @unchecked Sendable {
  private let loop: OpaquePointer
  private var hasQuit = false

  /// - Throws: `DiscoveryObstacle`: no memory or no descriptors.
  init() throws(DiscoveryObstacle) {
    guard let loop = avahi_simple_poll_new() else { throw .noResources }
    self.loop = loop
  }

  deinit { avahi_simple_poll_free(loop) }

  /// What libavahi-client wants to know of it. Valid as long as this object.
  var interface: UnsafePointer<AvahiPoll>? { avahi_simple_poll_get(loop) }

  /// Waits for something to happen, at most until `deadline`, and calls libavahi's callbacks.
  ///
  /// - Returns: false when the loop does not work or was ended.
  func iterate(until deadline: ContinuousClock.Instant?) -> Bool {
    // libavahi stops the process if it is used after it has quit.
    guard !hasQuit else { return false }
    let result = avahi_simple_poll_iterate(loop, Self.milliseconds(until: deadline))
    if result > 0 { hasQuit = true }
    return result == 0
  }

  /// Ends the loop for good. From any thread.
  func quit() { avahi_simple_poll_quit(loop) }

  /// Rounded up, so that the deadline has passed afterwards; -1 without a deadline.
  private static func milliseconds(until deadline: ContinuousClock.Instant?) -> Int32 {
    guard let deadline else { return -1 }
    let left = ContinuousClock.now.duration(to: deadline)
    guard left > .zero else { return 0 }
    return Int32(min(left / .milliseconds(1), 60_000).rounded(.up))
  }
}
