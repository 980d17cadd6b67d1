import Bridge
import Broker
import Home
import HomeStore
import KeychainCore
import Logging
import Settings
import Wire

/// Sends an alert that says it is a test.
struct TestAlert: OneTimeOperation {
  var home: String

  /// Also what `alerts test --json` prints.
  struct Reply: Codable { var home: String }

  func perform(_ context: OperationContext) throws -> Reply {
    let home = try context.settings.home(named: home)
    _ = try context.perform(.testAlert(.test), in: home)
    return Reply(home: home)
  }
}

/// A person says that alerts arrive.
struct ConfirmAlerts: Operation {
  var home: String
  /// False takes it back.
  var confirmed: Bool

  /// Also what `alerts confirm --json` prints.
  struct Reply: Codable {
    var home: String
    var changed: Bool
    /// `not_protected`, `watching`, `protected`.
    var protection: String
    /// Steps, in their order.
    var missing: [String]
  }

  func perform(_ context: OperationContext) throws -> Reply {
    let name = try context.settings.home(named: home)
    guard case .accepted(let isChange, _) = try context.perform(.confirmAlerts(confirmed), in: name) else {
      throw CommandFailure(.software, "the home has decided nothing")
    }
    if isChange {
      context.logger.notice(
        confirmed ? "alerts are confirmed" : "alerts are confirmed no more",
        metadata: ["home": "\(name)", "by": "\(context.actor)"])
    }
    let protection = try context.home(named: name).home.protection
    return Reply(
      home: name, changed: isChange, protection: protection.state.word.description,
      missing: protection.missing.map(\.word.description))
  }
}

extension OperationContext {
  /// The slots of the store have changed. That is done, and a code that was made for one is still to be shown: what
  /// fails here is noted at the next start.
  func noteRecoveryCode() {
    do {
      let isThere = try store.opensByRecoveryCode()
      try bridge.loop.perform(settings.homes.map { (home: $0.name, input: .recoveryCode(isThere)) })
    } catch { logger.warning("the homes have no note of the recovery code", metadata: ["reason": "\(error)"]) }
  }
}
