import Settings

/// Keeps the daemon's password for its broker, with which it goes on at once. Whoever sends it has tried it.
struct StoreLogin: Operation {
  /// The broker that the caller's settings name, as `BrokerAddress.url`. A daemon that speaks to another one, or to the
  /// same one without TLS, says so.
  var broker: String
  var username: String
  var password: String

  struct Reply: Codable {
    /// `added` or `updated`.
    var stored: String
    /// Whether the daemon goes on with it; not while its settings have a password.
    var inUse: Bool
  }

  func perform(_ context: OperationContext) throws -> Reply {
    let address = try context.settings.address(of: broker)
    let name = try Username.checked(username)
    if let own = context.settings.mqtt.username, own != name {
      throw CommandFailure(
        .configuration, "the running daemon logs in as \(own), not as \(name)",
        remedy: "change or remove `mqtt.username`, and start the daemon again")
    }
    let login = BrokerLogin(username: name, password: try Password.checked(Array(password.utf8)[...]))
    let change = try context.logins.save(login, at: address, for: context.actor)
    return Reply(stored: change.rawValue, inUse: context.logins.isStoredInUse)
  }
}

extension StoreLogin: CustomStringConvertible, CustomReflectable {
  /// Never the password.
  var description: String { "a login" }
  var customMirror: Mirror { Mirror(self, children: ["broker": broker]) }
}

/// Deletes the password of `StoreLogin`. A second deletion finds nothing.
struct DeleteLogin: OneTimeOperation {
  /// As of `StoreLogin`.
  var broker: String

  /// Also what `login --remove --json` prints.
  struct Reply: Codable {
    var broker: String
    /// The users whose logins are deleted.
    var deleted: [String]
    /// Whether the daemon had no other password.
    var inUse: Bool
  }

  func perform(_ context: OperationContext) throws -> Reply {
    let address = try context.settings.address(of: broker)
    let users = try context.logins.delete(at: address, for: context.actor)
    return Reply(broker: "\(address)", deleted: users, inUse: context.logins.isStoredInUse)
  }
}

extension Settings {
  /// - Throws: `CommandFailure` with status 78 where the daemon's broker is another one.
  fileprivate func address(of broker: String) throws(CommandFailure) -> BrokerAddress {
    let address = try BrokerAddress(ofOwnBroker: mqtt)
    guard broker == address.url else {
      throw CommandFailure(
        .configuration, "the running daemon speaks to \(address.url), these settings name \(broker)",
        remedy: "restart the daemon with the current settings")
    }
    return address
  }
}
