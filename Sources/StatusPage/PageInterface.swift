#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What can be read, beside the blueprints. `docs/reference/openapi.yaml` is made of this and of the changes.
enum PageReading: String, CaseIterable {
  case page = "/"
  case events = "/events"
  case liveness = "/healthz"
  case readiness = "/readyz"
  case metrics = "/metrics"

  var summary: String {
    switch self {
    case .page:
      "The status page. `/?token=…` puts the token into a cookie for 90 days. "
        + "Its form posts the `code` of `threadkeeper page code` to `/`, for the same cookie."
    case .events: "What the page shows, as events of the name `state`: at once, and after each change."
    case .liveness: "Whether the daemon answers."
    case .readiness: "Whether the daemon does its work. `reason` is for who shows the token."
    case .metrics: "Metrics for Prometheus."
    }
  }
}

extension PageChange {
  /// What the JSON of a change may have, by its names. Other members are ignored.
  enum Field: String, CodingKey, CaseIterable {
    case home
    case network = "ext_pan_id"
    case router = "border_agent_id"
    case id, name, code
    case accepted, always, anyway

    var isFlag: Bool { [.accepted, .always, .anyway].contains(self) }

    var meaning: String {
      switch self {
      case .home: "Name of a home."
      case .network: "Extended PAN ID of a network: 16 hex digits."
      case .router: "Id of a border router: 16 or 32 hex digits."
      case .id: "Of the request for credentials, or of the disputed keys: as the state has it."
      case .name: "Empty: as it calls itself."
      case .code: "Digits and letters that somebody has read."
      case .accepted: "`false` takes it back."
      case .always: "Also from now on."
      case .anyway: "In spite of what the answer before has said."
      }
    }
  }

  /// The members of a request.
  struct Fields: Decodable {
    private var texts: [Field: String] = [:]
    private var flags: [Field: Bool] = [:]

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: Field.self)
      for field in Field.allCases {
        if field.isFlag {
          flags[field] = try container.decodeIfPresent(Bool.self, forKey: field)
        } else {
          texts[field] = try container.decodeIfPresent(String.self, forKey: field)
        }
      }
    }

    /// Nil where it is missing.
    func text(_ field: Field) -> String? { texts[field] }
    /// Of a field that the route needs.
    subscript(_ field: Field) -> String { texts[field] ?? "" }
    func flag(_ field: Field, else absent: Bool = false) -> Bool { flags[field] ?? absent }
  }

  /// What is posted to a path.
  struct Route: Sendable {
    let summary: String
    let needs: [Field]
    /// All texts; flags are never needed.
    let mayHave: [Field]
    fileprivate let make: @Sendable (Fields) -> PageChange

    fileprivate init(
      _ summary: String, _ needs: [Field] = [], mayHave: [Field] = [], make: @escaping @Sendable (Fields) -> PageChange
    ) { (self.summary, self.needs, self.mayHave, self.make) = (summary, needs, mayHave, make) }
  }

  static let routes: [String: Route] = [
    "/networks/accept": Route(
      "Routers are on the network on purpose, or not any more.", [.home, .network], mayHave: [.accepted]
    ) { .acceptNetwork(home: $0[.home], network: $0[.network], accepted: $0.flag(.accepted, else: true)) },
    "/networks/join": Route(
      "Gets the credentials of a network by the code that a border router shows.", [.code], mayHave: [.router, .anyway]
    ) { .join(code: $0[.code], router: $0.text(.router), anyway: $0.flag(.anyway)) },
    "/networks/prefer": Route("Chooses the preferred network.", [.home, .network]) {
      .prefer(home: $0[.home], network: $0[.network])
    },
    "/networks/keep": Route("Keeps the current keys of the preferred network, which are disputed.", [.home, .id]) {
      .keepKeys(home: $0[.home], since: $0[.id])
    },
    "/networks/forget": Route("Lets no network be the preferred one.", [.home, .network]) {
      .forgetPreferred(home: $0[.home], network: $0[.network])
    },
    "/networks/share": Route("Shows a code by which others get the credentials of a network.", [.home, .network]) {
      .share(home: $0[.home], network: $0[.network])
    },
    "/routers/accept": Route("A router is where it is on purpose.", [.home, .router]) {
      .acceptRouter(home: $0[.home], router: $0[.router])
    },
    "/routers/forget": Route("Takes a router off the list, with its credentials.", [.home, .router]) {
      .forgetRouter(home: $0[.home], router: $0[.router])
    }, "/routers/read": Route("Reads a router now.", [.router]) { .readRouter(router: $0[.router]) },
    "/routers/rename": Route("Gives a router another name.", [.home, .router, .name]) {
      .renameRouter(home: $0[.home], router: $0[.router], name: $0[.name])
    },
    "/consent/approve": Route("Approves a request for credentials.", [.id], mayHave: [.always]) {
      .approve(id: $0[.id], always: $0.flag(.always))
    }, "/consent/deny": Route("Denies a request for credentials.", [.id]) { .deny(id: $0[.id]) },
    "/consent/ask": Route(
      "Has a person asked again whether a router gets the preferred credentials.", [.home, .router]
    ) { .askAgain(home: $0[.home], router: $0[.router]) },
    "/alerts/test": Route("Sends an alert that says it is a test.", [.home]) { .testAlert(home: $0[.home]) },
    "/alerts/confirm": Route("Alerts have arrived.", [.home]) { .confirmAlerts(home: $0[.home]) },
    "/keys/recovery-code": Route("Makes a recovery code and shows it. It opens nothing before it is confirmed.") { _ in
      .makeRecoveryCode
    },
    "/keys/confirm": Route("Has the recovery code open the store, by its third group.", [.code]) {
      .confirmRecoveryCode(group: $0[.code])
    },
  ]

  /// Nil where the body does not say what the path needs.
  package init?(path: String, body: [UInt8]) {
    guard let route = Self.routes[path], let fields = try? JSONDecoder().decode(Fields.self, from: Data(body)),
      route.needs.allSatisfy({ fields.text($0) != nil })
    else { return nil }
    self = route.make(fields)
  }
}
