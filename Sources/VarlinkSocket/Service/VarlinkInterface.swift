// SPDX-License-Identifier: Apache-2.0

/// The description of an interface, as clients get it (varlink.org, "Interface Definition").
package struct VarlinkInterface: Sendable {
  package let name: String
  package let text: String
  /// The names of its methods, in their order.
  package let methods: [String]

  /// - Parameter text: the definition. Each `interface` and `method` begins a line.
  package init(_ text: String) {
    // By bytes: every start of a daemon does this to a dozen texts.
    let lines = text.utf8.split(separator: UInt8(ascii: "\n"))
    func names(_ keyword: String) -> [String] {
      lines.compactMap { line in
        guard line.starts(with: keyword.utf8) else { return nil }
        let words = line.split(whereSeparator: { " \t(".utf8.contains($0) })
        return words.count > 1 && words[0].elementsEqual(keyword.utf8) ? String(words[1]) : nil
      }
    }
    self.text = text
    name = names("interface").first ?? ""
    methods = names("method")
  }
}

extension VarlinkInterface {
  /// What every service has, with the words of varlink.org.
  package static let service = VarlinkInterface(
    """
    # The Varlink Service Interface is provided by every varlink service. It
    # describes the service and the interfaces it implements.
    interface org.varlink.service

    # Get a list of all the interfaces a service provides and information
    # about the implementation.
    method GetInfo() -> (
      vendor: string,
      product: string,
      version: string,
      url: string,
      interfaces: []string
    )

    # Get the description of an interface that is implemented by this service.
    method GetInterfaceDescription(interface: string) -> (description: string)

    # The requested interface was not found.
    error InterfaceNotFound (interface: string)

    # The requested method was not found
    error MethodNotFound (method: string)

    # The interface defines the requested method, but the service does not
    # implement it.
    error MethodNotImplemented (method: string)

    # One of the passed parameters is invalid.
    error InvalidParameter (parameter: string)

    # Client is denied access
    error PermissionDenied ()

    # Method is expected to be called with 'more' set to true, but wasn't
    error ExpectedMore ()

    """)
}
