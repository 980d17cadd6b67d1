import BorderRouterAgent
import Glibc
import Home
import LocalAPI
import Logging
import Settings
import ThreadDataset
import ThreadRequests

extension ShareNetwork.Reply {
  /// As `916 371 366`.
  var shownCode: String { "\(code.prefix(3)) \(code.dropFirst(3).prefix(3)) \(code.dropFirst(6))" }

  var duration: String { minutes == 1 ? "a minute" : "\(minutes) minutes" }
}

extension ShareNetwork: OneTimeOperation {
  func perform(_ context: OperationContext) throws -> Reply {
    let home = try context.home(named: context.settings.home(named: home))
    guard let network = try network ?? home.home.preferred?.dataset.network else {
      throw CommandFailure(
        .noInput, "no network is preferred", remedy: "name the network by its Extended PAN ID: `threadkeeper networks`")
    }
    let sharing = try start(at: url ?? context.settings.sharingURL, on: network)
    // Only now: a code that somebody else has asked for stays an alert. The person gets the code in any case.
    if let agent = sharing.agent { _ = try? context.perform(.codeAsked(agent, minutes: length), in: home.name) }
    context.logger.notice(
      "credentials are shared by a code",
      metadata: ["ext_pan_id": "\(network)", "home": "\(home.name)", "by": "\(context.actor)"])
    return reply(sharing)
  }

  /// Without a daemon: of whichever network the router is on, where none is named.
  func ask(_ url: String) throws -> Reply { reply(try start(at: url, on: try network)) }

  private var network: ExtendedPANID? {
    get throws(CommandFailure) { try extPanId.map { hex throws(CommandFailure) in try ExtendedPANID(parameter: hex) } }
  }

  private var length: Int { minutes ?? 2 }

  private func reply(_ sharing: CredentialSharing) -> Reply {
    Reply(
      borderAgentId: sharing.agent?.description, extPanId: sharing.network?.description,
      networkName: sharing.networkName, minutes: length, code: sharing.code)
  }

  private func start(at url: String, on network: ExtendedPANID?) throws(CommandFailure) -> CredentialSharing {
    guard CredentialSharing.minutes.contains(length) else {
      throw CommandFailure(.usage, "a code is valid for 1 to 10 minutes, not \(length)")
    }
    guard let address = HTTPAddress(url) else {
      throw CommandFailure(.usage, "a router's REST interface is http://HOST:PORT, without a path or a login")
    }
    if let obstacle = HTTPTransfer.obstacle { throw CommandFailure(.unavailable, obstacle) }
    // The program of any other user of this machine may have taken the router's place.
    let client = OTBRClient(address, of: [0, geteuid()])
    do throws(CredentialSharing.Obstacle) {
      return try CredentialSharing.start(by: client, on: network, minutes: length)
    } catch {
      let isInUse = error == .inUse
      throw CommandFailure(
        .unavailable, "the border router at \(address) \(error.description)",
        remedy: isInUse
          ? "wait until that code has ended, ten minutes at most"
          : "have a code shown in the app of another border router's maker, or name an OpenThread Border Router on "
            + "the network: `--url`, or `sharing.url` in the settings", code: isInUse ? .conflict : .unsupported)
    }
  }
}
