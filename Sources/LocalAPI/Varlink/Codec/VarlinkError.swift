import Wire

/// An error that a service answers with.
package struct VarlinkError: Error, Sendable, Equatable, CustomStringConvertible {
  /// With its interface: `org.varlink.service.MethodNotFound`.
  package let name: String
  package let parameters: WireBytes

  package init(_ name: String, _ parameters: WireBytes = .empty) {
    self.name = name
    self.parameters = parameters
  }

  package init(_ name: String, _ texts: [String: String]) { self.init(name, WireBytes(of: texts)) }

  package var description: String {
    parameters == .empty ? name : "\(name) \(String(decoding: parameters.bytes, as: UTF8.self))"
  }
}

/// The errors of org.varlink.service.
extension VarlinkError {
  package static func interfaceNotFound(_ interface: String) -> VarlinkError {
    VarlinkError("org.varlink.service.InterfaceNotFound", ["interface": interface])
  }

  /// - Parameter method: its name without the interface.
  package static func methodNotFound(_ method: String) -> VarlinkError {
    VarlinkError("org.varlink.service.MethodNotFound", ["method": method])
  }

  package static func methodNotImplemented(_ method: String) -> VarlinkError {
    VarlinkError("org.varlink.service.MethodNotImplemented", ["method": method])
  }

  package static func invalidParameter(_ parameter: String) -> VarlinkError {
    VarlinkError("org.varlink.service.InvalidParameter", ["parameter": parameter])
  }

  package static let permissionDenied = VarlinkError("org.varlink.service.PermissionDenied")

  package static let expectedMore = VarlinkError("org.varlink.service.ExpectedMore")
}
