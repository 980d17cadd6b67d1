// SPDX-License-Identifier: Apache-2.0

/// An error that a service answers with.
package struct VarlinkError: Error, Sendable, Equatable, CustomStringConvertible {
  /// With its interface: `org.varlink.service.MethodNotFound`.
  package let name: String
  package let parameters: [String: String]

  package init(_ name: String, _ parameters: [String: String] = [:]) {
    self.name = name
    self.parameters = parameters
  }

  package var description: String {
    let details = parameters.sorted { $0.key < $1.key }.map { "\($0): \($1)" }
    return details.isEmpty ? name : "\(name) (\(details.joined(separator: ", ")))"
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
