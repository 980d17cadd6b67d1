import Glibc
import Settings
import ThreadkeeperSupport

/// An agent that `setup --undo` takes away.
struct UndoneAgent: Encodable, Equatable {
  let agent: MachineAgent
  let unit: String
  let login: String?
  /// Removed, or to be.
  let files: [String]
  /// The login is not enrolled any more.
  var revoked = false

  /// All that setup has made.
  static func all(_ system: SystemPlaces) -> [UndoneAgent] {
    MachineAgent.allCases.map { AgentPlace($0, system) }.filter(\.isOfSetup).map {
      UndoneAgent(agent: $0.agent, unit: $0.agent.unit, login: $0.value(of: "--username"), files: $0.files)
    }
  }

  /// - Parameter settings: nil where they cannot be used.
  mutating func take(_ settings: Settings?, _ system: SystemPlaces) async throws {
    for file in files where access(FilePath.directory(of: file), W_OK) != 0 { throw WholeFile.failure(file) }
    if SystemdService.isHere { try SystemdService(unit).disable() }
    if let settings, let login {
      do {
        let (agent, line) = (agent, try? AgentPlace(agent, system).line(system))
        revoked = try await StoreOwner.run(settings) {
          let (daemon, home) = (DaemonClient(settings: settings), try settings.home(named: nil))
          guard let known = try await daemon.performIfThere(ListClients(home: home)) else { return false }
          // Then the agent never had it.
          guard !known.isOthers(login, agent, line) else { return true }
          return try await daemon.performIfThere(RevokeClient(home: home, user: login, forgets: true)) != nil
        }
      } catch let failure as CommandFailure where failure.status == .noInput { revoked = true }
    }
    // The options last: by them it is known as setup's.
    for file in files.reversed() where unlink(file) != 0 && errno != ENOENT { throw WholeFile.failure(file) }
  }
}
