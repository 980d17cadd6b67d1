// SPDX-License-Identifier: Apache-2.0

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
package struct VarlinkReplies<Reply: Encodable & Sendable>: Sendable {
  let write: @Sendable ([UInt8]) async throws -> Void

  /// Sends a reply that others follow. Returns when the system has taken it, so a stream is as fast as its reader, and
  /// one reply at most is in memory.
  ///
  /// - Throws: when the caller has gone.
  package func send(_ reply: Reply) async throws {
    try await write(VarlinkReply(parameters: reply, continues: true).encoded())
  }
}

/// A method together with what answers it: a row of a service's table.
package struct VarlinkEndpoint: Sendable {
  typealias Answer =
    @Sendable (
      VarlinkCall, VarlinkCaller, @escaping @Sendable ([UInt8]) async throws -> Void
    ) async throws -> [UInt8]

  package let interface: String
  package let name: String
  package let access: VarlinkAccess
  package let isStream: Bool
  /// Returns the last reply.
  let answer: Answer
}

extension VarlinkMethod where Parameters: Decodable & Sendable, Reply: Encodable & Sendable {
  /// - Parameter handler: is cancelled when the caller goes, or the service ends.
  package func answered(
    by handler: @escaping @Sendable (Parameters, VarlinkCaller) async throws -> Reply
  ) -> VarlinkEndpoint {
    answered { parameters, caller, _ in try await handler(parameters, caller) }
  }

  /// Of a method that may be called with `more`, or without.
  ///
  /// - Parameter handler: gets nil where the caller takes one reply only.
  package func answered(
    by handler:
      @escaping @Sendable (Parameters, VarlinkCaller, VarlinkReplies<Reply>?) async throws -> Reply
  ) -> VarlinkEndpoint {
    VarlinkEndpoint(interface: interface, name: name, access: access, isStream: false) {
      call, caller, write in
      let reply = try await handler(
        try call.parameters(Parameters.self), caller,
        call.kind == .more ? VarlinkReplies(write: write) : nil)
      return try VarlinkReply(parameters: reply, continues: false).encoded()
    }
  }
}

extension VarlinkStream where Parameters: Decodable & Sendable, Reply: Encodable & Sendable {
  /// - Parameter handler: returns the last reply; is cancelled when the caller goes, or the service ends.
  package func answered(
    by handler:
      @escaping @Sendable (Parameters, VarlinkCaller, VarlinkReplies<Reply>) async throws -> Reply
  ) -> VarlinkEndpoint {
    VarlinkEndpoint(interface: interface, name: name, access: access, isStream: true) {
      call, caller, write in
      let last = try await handler(
        try call.parameters(Parameters.self), caller, VarlinkReplies(write: write))
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

  package static func < (left: VarlinkAccess, right: VarlinkAccess) -> Bool {
    left.rawValue < right.rawValue
  }
}

/// What a server makes of the user at the other end of a new connection.
package enum VarlinkVerdict: Sendable, Equatable {
  case admitted(VarlinkAccess)
  /// The connection is answered with this, and closed. Nothing of it is read.
  case refused(VarlinkError)
}

/// Who has called.
package struct VarlinkCaller: Sendable {
  /// As the kernel has it.
  package let peer: SocketPeer
  package let access: VarlinkAccess
  /// The connection that the call came over.
  package let session: VarlinkSession

  package init(
    peer: SocketPeer, access: VarlinkAccess, session: VarlinkSession = VarlinkSession()
  ) {
    self.peer = peer
    self.access = access
    self.session = session
  }
}
