import ThreadRequests
import Wire

/// What MQTT requests ask for, as methods of the local API: the daemon answers them for commands and for programs.
///
/// What they are about is in `RequestFields`, each method has its part of them; and so with `AnswerData`.
package enum RequestMethods {
  package typealias Method = VarlinkMethod<RequestFields, AnswerData>

  package static let interfaces = [
    interface("Credentials", "The Thread credentials of the caller's team, by border router."),
    interface("Preferred", "The preferred network of a home."),
    interface("Networks", "Networks of a home, and what is known of it."),
    interface(
      "Questions",
      "What the caller's own calls wait for. The operation `ListConsents` of io.threadkeeper.Admin has what waits for "
        + "anybody's."),
  ]

  /// The interface and the method; nil for what has others: `ping` has `org.varlink.service.GetInfo`, alerts those of
  /// io.threadkeeper.Admin.
  static func place(_ command: RequestCommand) -> (interface: String, method: String)? {
    switch command {
    case .ping, .testAlerts, .confirmAlerts: nil
    case .storeCredentials: ("Credentials", "Store")
    case .deleteCredentials: ("Credentials", "Delete")
    case .getCredentials: ("Credentials", "Get")
    case .listCredentials: ("Credentials", "List")
    case .listActiveCredentials: ("Credentials", "ListActive")
    case .shareCredentials: ("Credentials", "Share")
    case .isPreferredAvailable: ("Preferred", "IsAvailable")
    case .checkPreferred: ("Preferred", "Check")
    case .getPreferred: ("Preferred", "Get")
    case .setPreferred: ("Preferred", "Set")
    case .forgetPreferred: ("Preferred", "Forget")
    case .getNetwork: ("Networks", "Get")
    case .nearbyNetworks: ("Networks", "Nearby")
    case .forgetNetwork: ("Networks", "Forget")
    case .listNetworks: ("Networks", "List")
    case .listRouters: ("Networks", "ListRouters")
    case .listAlerts: ("Networks", "ListAlerts")
    case .approveConsent: ("Questions", "Approve")
    case .denyConsent: ("Questions", "Deny")
    case .askConsent: ("Questions", "Ask")
    case .pendingConsents: ("Questions", "Pending")
    }
  }

  /// - Returns: nil for what has other methods.
  package static func method(_ command: RequestCommand) -> Method? {
    place(command).map { Method("io.threadkeeper.\($0.interface)", $0.method, for: .team) }
  }

  /// Those of an interface.
  package static func methods(of interface: VarlinkInterface) -> [(command: RequestCommand, method: Method)] {
    RequestCommand.allCases.compactMap { command in
      method(command).flatMap { $0.interface == interface.name ? (command, $0) : nil }
    }
  }
}

extension VarlinkMethod where Parameters == RequestFields, Reply: WireMessage & Sendable {
  /// - Parameter handler: may wait, in the thread of the connection.
  package func answered(by handler: @escaping @Sendable (RequestFields, VarlinkCaller) throws -> Reply)
    -> VarlinkEndpoint
  {
    VarlinkEndpoint(interface: interface, name: name, access: access, isStream: false) { call, caller in
      VarlinkReply(parameters: try handler(call.request(), caller), continues: false).encoded()
    }
  }
}

extension VarlinkCall {
  /// The parameters of a request.
  ///
  /// - Throws: `VarlinkError.invalidParameter` with a field of another type.
  package func request() throws(VarlinkError) -> RequestFields {
    do throws(RequestFlaw) { return try RequestFields(json: parameters, on: .socket) } catch {
      switch error {
      case .unreadable: throw .invalidParameter("")
      case .type(let field): throw .invalidParameter(field)
      }
    }
  }
}

extension VarlinkError {
  package static let failed = "io.threadkeeper.Failed"
  package static let tooManyConnections = VarlinkError("io.threadkeeper.TooManyConnections")

  /// `io.threadkeeper.Failed` of a request. See docs/reference/local-api.md.
  package init(_ failure: AnswerFailure) { self.init(Self.failed, WireBytes(of: failure)) }
}

extension AnswerFailure {
  /// What a daemon answers instead of an answer; nil when that is none of threadkeeper's.
  package init?(_ error: VarlinkError) {
    switch error.name {
    case VarlinkError.failed:
      guard let failure = try? AnswerFailure(reading: error.parameters.bytes) else { return nil }
      self = failure
    case VarlinkError.tooManyConnections.name:
      self.init(.rateLimited, "too many connections of this user, or of all users, are open; wait for one of them")
    default: return nil
    }
  }
}
