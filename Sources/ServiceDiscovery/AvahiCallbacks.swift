// SPDX-License-Identifier: Apache-2.0

import CLibAvahi

/// What a browser says of a service.
struct SeenService {
  /// Nil when it is invalid, and where the event is not about a service.
  var name: String?
  var path: ServicePath
}

/// What a resolver says of a service.
struct ResolvedService {
  var host: String
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

  static let browser: AvahiServiceBrowserCallback = {
    browser, interface, family, event, name, _, _, _, session in
    guard let browser, let client = avahi_service_browser_get_client(browser) else { return }
    let seen = SeenService(
      name: CheckedText.text(name, limit: maximumNameBytes),
      path: ServicePath(interface: interface, protocol: family))
    AvahiCallbacks.session(session)?.browserReported(client, event, seen)
  }

  static let resolver: AvahiServiceResolverCallback = {
    resolver, _, _, event, _, _, _, host, _, port, text, _, session in
    guard let resolver, let client = avahi_service_resolver_get_client(resolver),
      let session = AvahiCallbacks.session(session)
    else { return }
    guard event == AVAHI_RESOLVER_FOUND else {
      return session.resolverAnswered(client, resolver, nil)
    }
    guard let host = CheckedText.text(host, limit: maximumHostBytes) else {
      session.refuse()
      return session.resolverAnswered(client, resolver, nil)
    }
    let answer = ResolvedService(
      host: host, port: port, text: TXTRecord(entries: entries(text)))
    session.resolverAnswered(client, resolver, answer)
  }

  private static func session(_ pointer: UnsafeMutableRawPointer?) -> AvahiSession? {
    pointer.map { Unmanaged<AvahiSession>.fromOpaque($0).takeUnretainedValue() }
  }

  /// The strings of a TXT record. One more than `TXTRecord` takes, so that it can tell.
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
