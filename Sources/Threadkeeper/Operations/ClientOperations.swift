import Bridge
import Broker
import Home
import HomeStore
import Logging
import Wire

/// What is taken from a user of the broker.
enum ClientTrust: String, CaseIterable, Codable {
  /// What comes in plaintext is taken, too.
  case broker
  /// Only what this user has signed counts.
  case signed

  fileprivate init(_ trust: EnrolledClient.Trust) { self = trust == .signed ? .signed : .broker }

  fileprivate var value: EnrolledClient.Trust { self == .signed ? .signed : .broker }
}

/// Takes note of the keys of a user of the broker.
struct EnrollClient: Operation {
  var home: String
  var user: String
  /// As `client keygen` prints it.
  var line: String
  var trust: ClientTrust?
  /// What `clients list` says of it.
  var label: String?

  struct Reply: Codable {
    var client: ClientReport
    /// `enrolled` or `updated`.
    var change: String
    /// The daemon's own keys.
    var daemon: PublicKeysReport
  }

  func perform(_ context: OperationContext) throws -> Reply {
    let (home, user) = (try context.settings.home(named: home), try Username.ofClient(user))
    let keys = try PublicIdentity.argument(line, whose: "the line")
    // Written by itself. Without a client nothing is sealed to them.
    let daemon = try context.bridge.identity.findOrMake(actor: context.actor).keys
    guard keys != daemon else {
      throw CommandFailure(.usage, "this is the daemon's own line; enrol that of the client")
    }
    let client = EnrolledClient(
      line: keys.line, fingerprint: keys.fingerprint, trust: (trust ?? .broker).value, label: label ?? "",
      at: SystemClock().now(), by: context.actor)
    let answer = try context.perform(.enroll(client, ExactName(user), by: context.caller), in: home)
    let report = ClientReport(OfHome(home: home, value: (ExactName(user), client)))
    context.logger.notice(
      "a client is enrolled", metadata: ["home": "\(home)", "user": "\(user)", "fingerprint": "\(report.fingerprint)"])
    return Reply(
      client: report, change: answer == .enrolled(isUpdate: true) ? "updated" : "enrolled",
      daemon: PublicKeysReport(daemon))
  }
}

/// The enrolled users, and the daemon's own keys.
struct ListClients: ReadOperation {
  /// Nil for all.
  var home: String?

  struct Reply: Codable {
    var clients: [ClientReport]
    /// Users whose keys were revoked, and whose word in plaintext is not believed either.
    var revoked: [String]?
    /// Nil before the first enrolment.
    var daemon: PublicKeysReport?
    /// Homes of them that the settings do not name: nothing of these holds, or can be revoked.
    var formerHomes: [String]?
    /// By home, how many records cannot be read: each may be of one more.
    var unreadable: [String: Int]?
  }

  func perform(_ context: OperationContext) throws -> Reply {
    if let home, context.bridge.loop.homes.formerHomes.homes[home] == nil { _ = try context.settings.home(named: home) }
    let clients = context.everyHome.clients(in: home)
    let revoked = clients.filter(\.value.client.isRevoked).map(\.value.user.text)
    return Reply(
      clients: clients.filter { !$0.value.client.isRevoked }.map(ClientReport.init),
      revoked: revoked.isEmpty ? nil : revoked, daemon: context.bridge.identity.keys.map { PublicKeysReport($0.keys) },
      formerHomes: context.former(of: clients.map(\.home)), unreadable: context.unreadable)
  }
}

/// Forgets the keys of a user of the broker. A second revocation finds nobody.
struct RevokeClient: OneTimeOperation {
  var home: String
  var user: String
  /// Nothing is kept of it: what it says in plaintext is believed again.
  var forgets: Bool

  struct Reply: Codable { var revoked: String }

  func perform(_ context: OperationContext) throws -> Reply {
    try context.checkIsServed { name, _ in name == self.home }
    let (home, user) = (try context.settings.home(named: home), try Username.ofClient(user))
    let answer = try context.perform(.revoke(ExactName(user), forgets: forgets, by: context.caller), in: home)
    guard answer == .revokedClient(true) else {
      throw CommandFailure(
        .noInput, "nobody is enrolled for the user \(user) of the home \(home)",
        remedy: "`threadkeeper clients list` names them")
    }
    context.logger.notice("a client's enrolment is revoked", metadata: ["home": "\(home)", "user": "\(user)"])
    return Reply(revoked: user)
  }
}

extension Username {
  /// A name that a topic can hold as one level.
  static func ofClient(_ user: String) throws(CommandFailure) -> String {
    let name = try checked(user)
    guard name.utf8.count <= 256 else {
      throw CommandFailure(.usage, "a user name of more than 256 bytes is no level of a topic")
    }
    return name
  }
}

/// An enrolled user as commands print it.
struct ClientReport: Codable {
  var home: String
  var user: String
  var trust: String
  var label: String
  var fingerprint: String
  var line: String
  /// RFC 3339.
  var enrolledAt: String
  var enrolledBy: String

  init(_ one: OfHome<(user: ExactName, client: EnrolledClient)>) {
    let client = one.value.client
    home = one.home
    user = one.value.user.text
    trust = ClientTrust(client.trust).rawValue
    label = client.label
    fingerprint = client.fingerprint
    line = client.line
    enrolledAt = client.enrolledAt.description
    enrolledBy = client.enrolledBy
  }
}

/// What is public of a client's or the daemon's keys.
struct PublicKeysReport: Codable {
  var line: String
  var fingerprint: String
  var keyFile: String?

  init(_ keys: PublicIdentity, keyFile: String? = nil) {
    line = keys.line
    fingerprint = keys.fingerprint
    self.keyFile = keyFile
  }
}

extension PublicIdentity {
  /// An enrolment line of the command line.
  ///
  /// - Parameter whose: for the words.
  static func argument(_ line: String, whose: String) throws(CommandFailure) -> PublicIdentity {
    do throws(EnrolmentLineError) { return try PublicIdentity(line: line) } catch {
      throw CommandFailure(
        .usage, "\(whose): \(error.message)",
        remedy: "the first line that `threadkeeper client keygen` prints is one, "
          + "`threadkeeper clients list` has the daemon's")
    }
  }
}
