import ThreadRequests
import Wire

/// What MQTT requests ask for, as methods of the local API: the daemon answers them for commands and for programs.
///
/// What they are about is in `RequestFields`, each method has its part of them; and so with `AnswerData`.
package enum RequestMethods {
  package typealias Method = VarlinkMethod<RequestFields, AnswerData>

  package static let interfaces: [VarlinkInterface] = [.credentials, .preferred, .networks, .questions]

  /// - Returns: nil for `ping`, in whose place there is `org.varlink.service.GetInfo`.
  package static func method(_ command: RequestCommand) -> Method? {
    let (interface, name): (VarlinkInterface, String)
    switch command {
    case .ping: return nil
    case .storeCredentials: (interface, name) = (.credentials, "Store")
    case .deleteCredentials: (interface, name) = (.credentials, "Delete")
    case .getCredentials: (interface, name) = (.credentials, "Get")
    case .listCredentials: (interface, name) = (.credentials, "List")
    case .listActiveCredentials: (interface, name) = (.credentials, "ListActive")
    case .shareCredentials: (interface, name) = (.credentials, "Share")
    case .isPreferredAvailable: (interface, name) = (.preferred, "IsAvailable")
    case .checkPreferred: (interface, name) = (.preferred, "Check")
    case .getPreferred: (interface, name) = (.preferred, "Get")
    case .setPreferred: (interface, name) = (.preferred, "Set")
    case .forgetPreferred: (interface, name) = (.preferred, "Forget")
    case .getNetwork: (interface, name) = (.networks, "Get")
    case .nearbyNetworks: (interface, name) = (.networks, "Nearby")
    case .forgetNetwork: (interface, name) = (.networks, "Forget")
    case .listNetworks: (interface, name) = (.networks, "List")
    case .listRouters: (interface, name) = (.networks, "ListRouters")
    case .listAlerts: (interface, name) = (.networks, "ListAlerts")
    case .approveConsent: (interface, name) = (.questions, "Approve")
    case .denyConsent: (interface, name) = (.questions, "Deny")
    case .askConsent: (interface, name) = (.questions, "Ask")
    case .pendingConsents: (interface, name) = (.questions, "Pending")
    }
    return Method(interface.name, name, for: .team)
  }

  /// Those of an interface.
  package static func methods(of interface: VarlinkInterface) -> [(command: RequestCommand, method: Method)] {
    RequestCommand.allCases.compactMap { command in
      method(command).flatMap { $0.interface == interface.name ? (command, $0) : nil }
    }
  }
}

extension AnswerData: VarlinkFieldNames {}

extension VarlinkMethod where Parameters == RequestFields, Reply: Encodable & Sendable {
  /// - Parameter handler: may wait, in the thread of the connection.
  package func answered(by handler: @escaping @Sendable (RequestFields, VarlinkCaller) throws -> Reply)
    -> VarlinkEndpoint
  {
    VarlinkEndpoint(interface: interface, name: name, access: access, isStream: false) { call, caller in
      try VarlinkReply(parameters: handler(call.request(), caller), continues: false).encoded()
    }
  }
}

extension VarlinkClient {
  /// As of other parameters.
  package func call<Reply: Decodable & Sendable>(
    _ method: VarlinkMethod<RequestFields, Reply>, _ fields: RequestFields, within limit: Duration
  ) async throws -> Reply { try await call(VarlinkCall.encode(method.fullName, fields), within: limit) }
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

  /// A request to send, without the byte that ends it.
  package static func encode(_ method: String, _ fields: RequestFields) -> [UInt8] {
    Request(method: method, parameters: fields).json()
  }

  private struct Request: WireObject {
    let method: String
    let parameters: RequestFields

    func fields<Coder: WireCoder>(_ c: inout Coder) {
      c.needed("method", method)
      c.needed("parameters", parameters)
    }
  }
}
