// SPDX-License-Identifier: Apache-2.0

import Bridge
import Settings
import VarlinkSocket

/// Something that an administrator has the daemon do. A command makes the value and prints the reply; the page makes it
/// too. The name of the type is its name on the wire.
package protocol Operation: Codable, Sendable {
  associatedtype Reply: Codable & Sendable

  /// Whether the same comes of it when it is called once more, because the daemon ended before it answered.
  static var isRepeatable: Bool { get }

  /// May wait for the disk. One at a time.
  ///
  /// - Throws: `CommandFailure`, or what the store throws.
  func perform(_ context: OperationContext) throws -> Reply
}

extension Operation {
  package static var isRepeatable: Bool { true }

  static var name: String { "\(Self.self)" }
}

/// All that there are. A new one is added here, and to docs/reference/local-api.md.
private let operations: [any Operation.Type] = [
  AcceptNetwork.self, AcceptRouter.self, RemoveRouter.self,
]

/// What operations work with.
package struct OperationContext: Sendable {
  let settings: Settings
  let bridge: Bridge
  /// Who is named in the audit and the log.
  let actor: String
}

/// Answers `io.threadkeeper.Admin`.
struct OperationHandler: LocalAPIHandler {
  let settings: Settings
  let bridge: Bridge
  private let queue = HandlerQueue("operations")

  init(_ settings: Settings, bridge: Bridge) {
    self.settings = settings
    self.bridge = bridge
  }

  var interface: VarlinkInterface { .admin }

  var endpoints: [VarlinkEndpoint] {
    [
      VarlinkMethod<ReceivedOperation, OperationReply>(interface.name, "Perform", for: .owner)
        .answered { call, caller in
          return try await queue.run {
            let context = OperationContext(
              settings: settings, bridge: bridge, actor: OpenStore.actor(user: caller.peer.user))
            return OperationReply(reply: try call.operation.perform(context))
          }
        }
    ]
  }
}

private enum OperationFields: CodingKey { case operation, parameters, reply }

private struct ReceivedOperation: Decodable, Sendable {
  let operation: any Operation

  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: OperationFields.self)
    let name = try fields.decode(String.self, forKey: .operation)
    guard let type = operations.first(where: { $0.name == name }) else {
      throw VarlinkError.invalidParameter("operation")
    }
    operation = try type.init(from: fields.superDecoder(forKey: .parameters))
  }
}

private struct OperationReply: Encodable, Sendable {
  let reply: any Encodable & Sendable

  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: OperationFields.self)
    try reply.encode(to: fields.superEncoder(forKey: .reply))
  }
}

/// An operation as a client sends it.
package struct OperationCall<Performed: Operation>: Encodable, Sendable {
  package struct Answer: Decodable, Sendable {
    package let reply: Performed.Reply
  }

  package static var method: VarlinkMethod<Self, Answer> {
    VarlinkMethod(VarlinkInterface.admin.name, "Perform", for: .owner)
  }

  private let operation = Performed.name
  private let parameters: Performed

  package init(_ operation: Performed) { parameters = operation }
}

extension VarlinkInterface {
  /// The text of docs/interfaces/io.threadkeeper.Admin.varlink; a test compares the two.
  package static let admin = VarlinkInterface(
    """
    # What an administrator has the daemon do. The operations, with their parameters and replies, are in
    # docs/reference/local-api.md.
    interface io.threadkeeper.Admin

    # Fails with `InvalidParameter` for an operation that the daemon does not know, with `PermissionDenied` where the
    # caller may not have it, and with io.threadkeeper.Failed.
    method Perform(operation: string, parameters: object) -> (reply: object)

    """)
}
