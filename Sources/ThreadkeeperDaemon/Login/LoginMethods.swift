// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import VarlinkSocket

/// `io.threadkeeper.Login`: the password for the broker.
package enum LoginMethods {
  private static let interface = VarlinkInterface.login.name

  package static let store = VarlinkMethod<NewLogin, Stored>(interface, "Store", for: .owner)
  package static let delete = VarlinkMethod<Broker, Deleted>(interface, "Delete", for: .owner)

  package struct NewLogin: Codable, Sendable {
    /// The broker that the caller's settings name, as `BrokerAddress.url`. A daemon that speaks to another one, or to the
    /// same one without TLS, says so.
    package var broker: String
    package var username: String
    package var password: String
    /// False stores the login without asking the broker.
    package var validate: Bool?

    package init(broker: String, username: String, password: String, validate: Bool) {
      self.broker = broker
      self.username = username
      self.password = password
      self.validate = validate
    }
  }

  package struct Stored: Codable, Sendable {
    /// `added` or `updated`.
    package var stored: String
    /// Whether the daemon goes on with it; not while its settings have a password.
    package var inUse: Bool
  }

  package struct Broker: Codable, Sendable {
    package var broker: String

    package init(_ broker: String) { self.broker = broker }
  }

  package struct Deleted: Codable, Sendable {
    /// The users whose logins are deleted.
    package var deleted: [String]
    package var inUse: Bool
  }
}

extension LoginMethods.NewLogin: CustomStringConvertible, CustomReflectable {
  /// Never the password.
  package var description: String { "a login" }
  package var customMirror: Mirror { Mirror(self, children: ["broker": broker]) }
}

/// Answers `io.threadkeeper.Login` in the daemon.
struct LoginHandler: LocalAPIHandler {
  let service: BrokerLoginService

  var interface: VarlinkInterface { .login }

  var endpoints: [VarlinkEndpoint] {
    [
      LoginMethods.store.answered { request, caller in
        try await Self.reporting {
          try await service.store(request, for: OpenStore.actor(user: caller.peer.user))
        }
      },
      LoginMethods.delete.answered { request, caller in
        try await Self.reporting {
          try await service.delete(request, for: OpenStore.actor(user: caller.peer.user))
        }
      },
    ]
  }

  private static func reporting<R>(_ body: () async throws -> R) async throws -> R {
    do {
      return try await body()
    } catch is CancellationError {
      throw CommandFailure(.temporary, "the daemon ends: nothing was stored")
    } catch let error as KeychainError {
      // No other password helps against a store that is locked.
      throw VarlinkError(CommandFailure(error), code: VarlinkError.storeCode)
    }
  }
}
