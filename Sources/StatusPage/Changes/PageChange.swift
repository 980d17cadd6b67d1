// SPDX-License-Identifier: Apache-2.0

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What a person changes on the page.
package enum PageChange: Sendable, Equatable {
  /// Routers are on the network on purpose, or not any more.
  case acceptNetwork(home: String, network: String, accepted: Bool)
  case acceptRouter(home: String, router: String)
  /// Takes it off the list, with its credentials.
  case forgetRouter(home: String, router: String)
  case prefer(home: String, network: String)
  /// Lets no network be the preferred one. Not where it is another one by now.
  case forgetPreferred(home: String, network: String)
  case approve(id: String, always: Bool)
  case deny(id: String)
  /// Has a person asked again whether a router gets the preferred credentials.
  case askAgain(home: String, router: String)

  /// The JSON of a request, as far as it is looked at.
  private struct Fields: Decodable {
    var home: String?
    var extPanId: String?
    var borderAgentId: String?
    var accepted: Bool?
    var id: String?
    var always: Bool?
  }

  static let paths = [
    "/networks/accept", "/networks/prefer", "/networks/forget", "/routers/accept",
    "/routers/forget",
    "/consent/approve", "/consent/deny", "/consent/ask",
  ]

  /// Nil where the body does not say what the path needs.
  package init?(path: String, body: [UInt8]) {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    guard let fields = try? decoder.decode(Fields.self, from: Data(body)) else { return nil }
    switch (path, fields.home, fields.extPanId, fields.borderAgentId, fields.id) {
    case ("/networks/accept", let home?, let network?, _, _):
      self = .acceptNetwork(home: home, network: network, accepted: fields.accepted ?? true)
    case ("/networks/prefer", let home?, let network?, _, _):
      self = .prefer(home: home, network: network)
    case ("/networks/forget", let home?, let network?, _, _):
      self = .forgetPreferred(home: home, network: network)
    case ("/routers/accept", let home?, _, let router?, _):
      self = .acceptRouter(home: home, router: router)
    case ("/routers/forget", let home?, _, let router?, _):
      self = .forgetRouter(home: home, router: router)
    case ("/consent/approve", _, _, _, let id?):
      self = .approve(id: id, always: fields.always ?? false)
    case ("/consent/ask", let home?, _, let router?, _):
      self = .askAgain(home: home, router: router)
    case ("/consent/deny", _, _, _, let id?): self = .deny(id: id)
    default: return nil
    }
  }
}

/// Why a change is not made, in words for a person.
package struct PageRefusal: Error, Sendable {
  package var message: String
  package var remedy: String?

  package init(_ message: String, remedy: String? = nil) {
    self.message = message
    self.remedy = remedy
  }
}
