import Broker
import FoundationEssentials
import Glibc
import KeychainCore
import SQLiteDatabase
import Settings

extension MosquittoConfiguration {
  /// The connection to a broker that is not ours.
  package init(_ mqtt: Settings.MQTT, host: String) {
    self.init(
      host: host, port: mqtt.port, clientID: mqtt.clientID?.revealed ?? "threadkeeper", username: mqtt.username,
      password: mqtt.password?.revealed, protocolVersion: mqtt.protocolVersion, tls: mqtt.tls)
    brokerUsers = Set(mqtt.brokerUsers)
  }
}

extension Settings {
  /// The home that a command is about.
  ///
  /// - Parameter name: may be left out where there is one home only.
  func home(named name: String?) throws(CommandFailure) -> String {
    if let name {
      guard homes.contains(where: { $0.name == name }) else {
        throw CommandFailure(.usage, "there is no home \(name)", remedy: "homes: \(homes.map(\.name).listed)")
      }
      return name
    }
    guard homes.count == 1, let only = homes.first else {
      throw CommandFailure(.usage, "there is more than one home", remedy: "say which with --home")
    }
    return only.name
  }
}

/// What the MQTT client ids begin with.
///
/// Whoever connects with a client id gets that client's session and the events that wait in it. So the name
/// follows from a key of the store, and from nothing that is published. It also follows from the machine and the
/// store's directory: a copy of the store on another machine, or in another directory, has sessions of its own.
enum SessionName {
  /// - Parameter machine: as `machineID()` has it.
  /// - Returns: the beginning of `<name>-intake` and `<name>-status`.
  static func make(_ settings: Settings, _ keychain: Keychain, machine: String = machineID()) throws(KeychainError)
    -> String
  {
    if let chosen = settings.mqtt.clientID { return chosen.revealed }
    let label = "mqtt session\n\(machine)\n\(realPath(keychain.location.directory))"
    return "threadkeeper-" + (try pseudonym(for: label, keychain))
  }

  private static func pseudonym(for label: String, _ keychain: Keychain) throws(KeychainError) -> String {
    do {
      guard keychain.condition == .healthy else {
        return try keychain.database.read { try keychain.pseudonym(for: label, in: $0) }
      }
      return try keychain.database.write { try keychain.pseudonym(for: label, in: $0) }
    } catch { throw error as? KeychainError ?? KeychainError(.internalError, "\(error)") }
  }

  /// The machine's own id (`machine-id(5)`); empty where it has none, as in some containers.
  static func machineID() -> String {
    for path in ["/etc/machine-id", "/var/lib/dbus/machine-id"] {
      guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { continue }
      let id = text.prefix { $0.isHexDigit }
      if !id.isEmpty { return String(id) }
    }
    return ""
  }

  private static func realPath(_ path: String) -> String {
    guard let resolved = realpath(path, nil) else { return path }
    defer { free(resolved) }
    return String(cString: resolved)
  }
}
