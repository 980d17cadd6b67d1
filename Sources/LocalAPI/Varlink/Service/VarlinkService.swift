/// A table of endpoints with the descriptions of their interfaces. It knows nothing of sockets.
package struct VarlinkService: Sendable {
  /// What `org.varlink.service.GetInfo` says.
  package struct Information: Sendable {
    package var vendor: String
    package var product: String
    package var version: String
    package var url: String

    package init(vendor: String, product: String, version: String, url: String) {
      self.vendor = vendor
      self.product = product
      self.version = version
      self.url = url
    }
  }

  package let interfaces: [VarlinkInterface]
  package let endpoints: [VarlinkEndpoint]
  private let gate: @Sendable (VarlinkCaller, _ isFirst: Bool) -> VarlinkError?
  private let failure: @Sendable (any Error) -> VarlinkError
  private let finished: @Sendable (_ method: String, Duration) -> Void

  /// - Parameters:
  ///   - interfaces: besides `org.varlink.service`.
  ///   - gate: what a call is refused with before it is read, which ends its connection; nil: it is not. Gets whether
  ///     it is the first one of its connection.
  ///   - failure: what is answered when a handler throws something else than a `VarlinkError`.
  ///   - finished: called with the full name of a method and how long it took, whatever came of it. Only for endpoints
  ///     of the table, so there are few names; not for calls with `more`, which last as long as their reader wants.
  package init(
    _ information: Information, interfaces: [VarlinkInterface], endpoints: [VarlinkEndpoint],
    gate: @escaping @Sendable (VarlinkCaller, _ isFirst: Bool) -> VarlinkError? = { _, _ in nil },
    failure: @escaping @Sendable (any Error) -> VarlinkError,
    finished: @escaping @Sendable (_ method: String, Duration) -> Void = { _, _ in }
  ) {
    self.interfaces = [.service] + interfaces
    self.endpoints = Self.introspection(information, self.interfaces) + endpoints
    self.gate = gate
    self.failure = failure
    self.finished = finished
  }

  /// Why the next call of a connection is not looked at.
  func refusal(ofCallBy caller: VarlinkCaller, isFirst: Bool) -> VarlinkError? { gate(caller, isFirst) }

  /// Performs a call, in the thread that calls this. Replies that others follow go to the caller.
  ///
  /// - Returns: the last reply, or the error.
  func answer(_ call: VarlinkCall, from caller: VarlinkCaller) -> [UInt8] {
    do {
      let endpoint = try endpoint(for: call, from: caller)
      let began = ContinuousClock.now
      defer { if call.kind != .more { finished("\(endpoint.interface).\(endpoint.name)", began.duration(to: .now)) } }
      return try endpoint.answer(call, caller)
    } catch { return reply(to: error) }
  }

  func reply(to error: any Error) -> [UInt8] { ((error as? VarlinkError) ?? failure(error)).encoded() }

  private func endpoint(for call: VarlinkCall, from caller: VarlinkCaller) throws(VarlinkError) -> VarlinkEndpoint {
    guard let interface = interfaces.first(where: { $0.name == call.interface }) else {
      throw .interfaceNotFound(call.interface)
    }
    guard interface.methods.contains(call.name) else { throw .methodNotFound(call.name) }
    let found = endpoints.first { $0.interface == call.interface && $0.name == call.name }
    // Nothing here speaks another protocol afterwards.
    guard let found, call.kind != .upgrade else { throw .methodNotImplemented(call.name) }
    guard caller.access >= found.access else { throw .permissionDenied }
    guard call.kind == .more || !found.isStream else { throw .expectedMore }
    return found
  }
}

extension VarlinkService {
  private struct InterfaceName: Decodable { var interface: String }

  private struct Description: Encodable { var description: String }

  private struct Info: Encodable {
    var vendor: String
    var product: String
    var version: String
    var url: String
    var interfaces: [String]
  }

  private static func introspection(_ information: Information, _ interfaces: [VarlinkInterface]) -> [VarlinkEndpoint] {
    let name = VarlinkInterface.service.name
    return [
      VarlinkMethod<VarlinkNothing, Info>(name, "GetInfo", for: .admitted).answered { _, _ in
        Info(
          vendor: information.vendor, product: information.product, version: information.version, url: information.url,
          interfaces: interfaces.map(\.name))
      },
      VarlinkMethod<InterfaceName, Description>(name, "GetInterfaceDescription", for: .admitted).answered { wanted, _ in
        guard let interface = interfaces.first(where: { $0.name == wanted.interface }) else {
          throw VarlinkError.interfaceNotFound(wanted.interface)
        }
        return Description(description: interface.text)
      },
    ]
  }
}
