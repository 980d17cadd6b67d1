/// An error that a service answers with.
package struct VarlinkError: Error, Sendable, Equatable, CustomStringConvertible {
  /// With its interface: `org.varlink.service.MethodNotFound`.
  package let name: String
  package let parameters: [String: Value]

  package init(_ name: String, _ parameters: [String: Value] = [:]) {
    self.name = name
    self.parameters = parameters
  }

  package var description: String {
    let details = parameters.sorted { $0.key < $1.key }.map { "\($0): \($1)" }
    return details.isEmpty ? name : "\(name) (\(details.joined(separator: ", ")))"
  }

  /// Of a parameter. What a service sends of other types is left out.
  package enum Value: Sendable, Equatable, CustomStringConvertible {
    case string(String)
    case int(Int)

    package var string: String? { if case .string(let text) = self { text } else { nil } }
    package var int: Int? { if case .int(let number) = self { number } else { nil } }

    package var description: String {
      switch self {
      case .string(let text): text
      case .int(let number): "\(number)"
      }
    }
  }
}

/// The errors of org.varlink.service.
extension VarlinkError {
  package static func interfaceNotFound(_ interface: String) -> VarlinkError {
    VarlinkError("org.varlink.service.InterfaceNotFound", ["interface": .string(interface)])
  }

  /// - Parameter method: its name without the interface.
  package static func methodNotFound(_ method: String) -> VarlinkError {
    VarlinkError("org.varlink.service.MethodNotFound", ["method": .string(method)])
  }

  package static func methodNotImplemented(_ method: String) -> VarlinkError {
    VarlinkError("org.varlink.service.MethodNotImplemented", ["method": .string(method)])
  }

  package static func invalidParameter(_ parameter: String) -> VarlinkError {
    VarlinkError("org.varlink.service.InvalidParameter", ["parameter": .string(parameter)])
  }

  package static let permissionDenied = VarlinkError("org.varlink.service.PermissionDenied")

  package static let expectedMore = VarlinkError("org.varlink.service.ExpectedMore")
}

extension VarlinkError.Value: Encodable, ExpressibleByStringInterpolation {
  package init(stringLiteral text: String) { self = .string(text) }

  package func encode(to encoder: any Encoder) throws {
    var value = encoder.singleValueContainer()
    switch self {
    case .string(let text): try value.encode(text)
    case .int(let number): try value.encode(number)
    }
  }
}
