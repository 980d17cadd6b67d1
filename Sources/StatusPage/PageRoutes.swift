import Settings

/// The blueprints that Home Assistant imports by their address, by their path. It names its copy after the last part of
/// the path without five characters, `.yaml`. Nothing of a home is in them, so nobody has to show the token.
enum Blueprints {
  static let files: [String: [UInt8]] = [
    "/blueprints/threadkeeper-alerts.yaml": PackageResources.threadkeeper_alerts_blueprint_yaml,
    "/blueprints/threadkeeper-consent.yaml": PackageResources.threadkeeper_consent_blueprint_yaml,
  ]
}

/// Decides what a request is answered with.
package struct PageRoutes: Sendable {
  private let hosts: HostCheck
  let access: PageAccess
  let source: any PageSource
  private let addressBesideProxy: String?
  let codeUsedUp: @Sendable () -> Void
  private let feed: StateFeed
  private let first: SharedValue<[UInt8]?>
  private let metrics: SharedValue<PageReply>

  /// - Parameters:
  ///   - now: by which a code is valid.
  ///   - codeUsedUp: a code was ended by wrong ones.
  package init(
    _ configuration: PageConfiguration, source: any PageSource,
    now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }, codeUsedUp: @escaping @Sendable () -> Void = {}
  ) {
    self.codeUsedUp = codeUsedUp
    hosts = HostCheck(names: configuration.http.names)
    access = PageAccess(configuration.http, now: now)
    self.source = source
    addressBesideProxy = configuration.addressBesideProxy
    feed = StateFeed(
      most: configuration.limits.viewers, shortestPause: .milliseconds(configuration.limits.shortestPauseMilliseconds),
      longestPause: .seconds(configuration.limits.longestPauseSeconds)
    ) { await source.state() }
    first = SharedValue(for: .milliseconds(500)) { await source.state() }
    metrics = SharedValue(for: .seconds(1)) {
      let text = MetricsText.encode(await source.metrics())
      return PageReply(.ok, type: MetricsText.contentType, Array(text.utf8))
    }
  }

  package func reply(to request: PageRequest) async -> PageReply {
    guard let host = request.host else { return .text(.badRequest, "a request names its host") }
    // What a browser asks the proxy for has the proxy's name.
    guard access.isTrusted(request) || hosts.allows(host) else {
      return .text(.misdirected, "this host name is not known here; list it in the setting `http.names`")
    }
    if PageChange.routes[request.path] != nil { return await change(request) }
    switch PageReading(rawValue: request.path) {
    case .liveness: return await reading(request) { .json(.ok, Liveness()) }
    case .readiness: return await reading(request) { ready(request) }
    case .page where request.method == "POST" && takesCodes: return enterCode(request)
    case .page: return await reading(request) { await page(request) }
    case .events: return await reading(request) { events(request) }
    case .metrics:
      return await reading(request) {
        guard access.mayLook(request) else { return refusal }
        return (try? await metrics.value) ?? .text(.failed, "an unexpected failure")
      }
    case nil:
      guard let blueprint = Blueprints.files[request.path] else { return .text(.notFound, "there is nothing here") }
      return await reading(request) { PageReply(.ok, type: "application/yaml", blueprint) }
    }
  }

  /// Probes have no token. They learn whether it works, and not why.
  private func ready(_ request: PageRequest) -> PageReply {
    let readiness = source.readiness
    return .json(readiness.ready ? .ok : .unavailable, access.mayLook(request) ? readiness : readiness.withoutReasons)
  }

  /// Ends the answers that would go on.
  package func end() { feed.end() }

  /// Ends them for those who may not look any more; the others come back.
  func endViewers() { feed.endViewers() }

  /// Has those who follow events see a change at once.
  func readNow() { feed.readNow() }

  /// Those who follow events.
  package var viewers: Int { feed.viewers }

  private func page(_ request: PageRequest) async -> PageReply {
    if let cookie = access.cookie(for: request) {
      var reply = PageReply(.ok, type: Self.html, Array(PageDocument.exchange.utf8))
      reply.headers.append(("Set-Cookie", cookie))
      return reply
    }
    guard access.mayLook(request) else {
      guard !takesCodes else { return codeForm() }
      return .text(
        .unauthorized, "This page needs the link that `threadkeeper page token` prints on the daemon's machine.")
    }
    let nonce = PageDocument.makeNonce()
    let isTrusted = access.isTrusted(request)
    var document = await source.document(nonce: nonce)
    if document == nil {
      document = PageDocument.html(
        nonce: nonce, mayChange: access.offersChanges(to: request), isThroughProxy: isTrusted,
        address: isTrusted ? addressBesideProxy : nil, state: try? await first.value)
    }
    var reply = PageReply(.ok, type: Self.html, Array((document ?? "").utf8))
    // The proxy's own pages show it in a frame.
    reply.headers.append(("Content-Security-Policy", PageDocument.policy(nonce: nonce, isFramed: isTrusted)))
    if isTrusted { reply.headers.append(("X-Frame-Options", "SAMEORIGIN")) }
    return reply
  }

  private func events(_ request: PageRequest) -> PageReply {
    guard access.mayLook(request) else { return refusal }
    guard request.method == "GET" else { return PageReply(.ok, type: Self.eventStream) }
    guard let viewer = feed.join() else { return .text(.unavailable, "too many pages are open, or the daemon ends") }
    var reply = PageReply(.ok, type: Self.eventStream)
    reply.viewer = viewer
    return reply
  }

  static let html = "text/html; charset=utf-8"
  private static let eventStream = "text/event-stream"

  private var refusal: PageReply {
    var reply = PageReply.text(.unauthorized, "show the token: `Authorization: Bearer …`")
    reply.headers.append(("WWW-Authenticate", "Bearer"))
    return reply
  }

  private func reading(_ request: PageRequest, _ reply: () async -> PageReply) async -> PageReply {
    guard request.method == "GET" || request.method == "HEAD" else {
      var refusal = PageReply.text(.notAllowed, "this can only be read")
      refusal.headers.append(("Allow", "GET, HEAD"))
      return refusal
    }
    return await reply()
  }
}
