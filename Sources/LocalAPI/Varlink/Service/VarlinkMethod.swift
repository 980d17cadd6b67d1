/// A method with one reply: what the service that offers it and the client that calls it both know.
package struct VarlinkMethod<Parameters, Reply>: Sendable {
  package let interface: String
  package let name: String
  package let access: VarlinkAccess

  package var fullName: String { "\(interface).\(name)" }

  package init(_ interface: String, _ name: String, for access: VarlinkAccess) {
    self.interface = interface
    self.name = name
    self.access = access
  }
}

/// A method with any number of replies, which has to be called with `more`.
package struct VarlinkStream<Parameters, Reply>: Sendable {
  package let interface: String
  package let name: String
  package let access: VarlinkAccess

  package var fullName: String { "\(interface).\(name)" }

  package init(_ interface: String, _ name: String, for access: VarlinkAccess) {
    self.interface = interface
    self.name = name
    self.access = access
  }
}

/// The way of the replies of a stream to its caller.
package struct VarlinkReplies<Reply> {
  private let caller: VarlinkCaller
  private let encode: (Reply) throws -> [UInt8]

  /// Sends a reply that others follow. Returns when the system has taken it, so a stream is as fast as its reader, and
  /// one reply at most is in memory.
  ///
  /// - Throws: when the caller has gone, or the server ends.
  package func send(_ reply: Reply) throws {
    try caller.check()
    try caller.send(encode(reply))
  }

  /// - Throws: as `send`.
  package func wait(for interval: Duration) throws { try caller.wait(until: .now + interval) }

  /// The same for what is a part of each reply.
  package func map<Part>(_ whole: @escaping (Part) throws -> Reply) -> VarlinkReplies<Part> {
    VarlinkReplies<Part>(caller: caller) { try encode(whole($0)) }
  }
}

extension VarlinkReplies where Reply: Encodable {
  fileprivate init(to caller: VarlinkCaller) {
    self.init(caller: caller) { try VarlinkReply(parameters: $0, continues: true).encoded() }
  }
}

/// A method together with what answers it: a row of a service's table.
package struct VarlinkEndpoint: Sendable {
  package let interface: String
  package let name: String
  package let access: VarlinkAccess
  package let isStream: Bool
  /// Returns the last reply.
  let answer: @Sendable (VarlinkCall, VarlinkCaller) throws -> [UInt8]
}

extension VarlinkMethod where Parameters: Decodable & Sendable, Reply: Encodable & Sendable {
  /// - Parameter handler: may wait, in the thread of the connection.
  package func answered(by handler: @escaping @Sendable (Parameters, VarlinkCaller) throws -> Reply) -> VarlinkEndpoint
  { answered { parameters, caller, _ in try handler(parameters, caller) } }

  /// Of a method that may be called with `more`, or without.
  ///
  /// - Parameter handler: gets nil where the caller takes one reply only.
  package func answered(
    by handler: @escaping @Sendable (Parameters, VarlinkCaller, VarlinkReplies<Reply>?) throws -> Reply
  ) -> VarlinkEndpoint {
    VarlinkEndpoint(interface: interface, name: name, access: access, isStream: false) { call, caller in
      let reply = try handler(
        try call.parameters(Parameters.self), caller, call.kind == .more ? VarlinkReplies(to: caller) : nil)
      return try VarlinkReply(parameters: reply, continues: false).encoded()
    }
  }
}

extension VarlinkStream where Parameters: Decodable & Sendable, Reply: Encodable & Sendable {
  /// - Parameter handler: returns the last reply.
  package func answered(by handler: @escaping @Sendable (Parameters, VarlinkReplies<Reply>) throws -> Reply)
    -> VarlinkEndpoint
  {
    VarlinkEndpoint(interface: interface, name: name, access: access, isStream: true) { call, caller in
      let last = try handler(try call.parameters(Parameters.self), VarlinkReplies(to: caller))
      return try VarlinkReply(parameters: last, continues: false).encoded()
    }
  }
}

/// Who may call a method. Each class may call what those below it may.
package enum VarlinkAccess: Int, Sendable, Comparable {
  /// Whoever is let in.
  case admitted
  /// Who may look at what shows no secret.
  case reader
  /// A member of a team.
  case team
  /// The daemon's own user, and root.
  case owner

  package static func < (left: VarlinkAccess, right: VarlinkAccess) -> Bool { left.rawValue < right.rawValue }
}

/// What a server makes of the user at the other end of a new connection.
package enum VarlinkVerdict: Sendable, Equatable {
  case admitted(VarlinkAccess)
  /// The connection is answered with this, and closed. Nothing of it is read.
  case refused(VarlinkError)
}

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
