// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import BorderRouterAgent
import SealedEnvelope

/// How often an agent looks and publishes. All in seconds.
struct AgentOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Look at the router this often.", valueName: "seconds"))
  var poll = 5

  @Option(
    help: ArgumentHelp(
      "Publish a heartbeat this often; threadkeeper takes 300 s without one for offline.",
      valueName: "seconds"))
  var heartbeat = 60

  @Option(
    help: ArgumentHelp(
      "Publish that it is offline when it has been so for this long.",
      discussion: "An update or a restart of its agent takes less.", valueName: "seconds"))
  var hold = 30

  @Option(help: ArgumentHelp("For each request to the router.", valueName: "seconds"))
  var requestTimeout = 5

  func validate() throws {
    for (name, value, range) in [
      ("poll", poll, 1...60), ("heartbeat", heartbeat, 1...240), ("hold", hold, 0...600),
      ("request-timeout", requestTimeout, 1...60),
    ] where !range.contains(value) {
      throw ValidationError(
        "--\(name) is \(range.lowerBound) to \(range.upperBound) seconds, not \(value).")
    }
  }

  func apply(to configuration: inout RouterConfiguration) {
    configuration.poll = .seconds(poll)
    configuration.rhythm = .init(heartbeat: .seconds(heartbeat), hold: .seconds(hold))
    configuration.requestTimeout = .seconds(requestTimeout)
  }
}

/// `threadkeeper agent`
struct AgentCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "agent",
    abstract: "Publish for border routers that don't publish by themselves.",
    discussion: """
      These run on the router's machine, or on one that reaches it, without a store and without a daemon.
      """,
    subcommands: [AgentOTBRCommand.self, AgentSSIDCommand.self])
}

/// Where an agent publishes, and whether it seals.
struct AgentLoginOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The daemon's enrolment line: seal and sign.", valueName: "line"))
  var daemon: String?

  @OptionGroup var key: ClientKeyOption
  @OptionGroup var broker: BrokerOptions

  func validate() throws {
    guard key.key == nil || daemon != nil else {
      throw ValidationError("--key needs --daemon: without it nothing is sealed.")
    }
  }

  func login() throws -> AgentLogin {
    var login = AgentLogin(
      base: broker.baseTopic, user: broker.username,
      broker: try broker.configuration(subscribingTo: "\(broker.baseTopic)/out"))
    login.brokerMessage = { BrokerOptions.words($0) }
    if let daemon {
      login.keys = AgentKeys(
        own: try key.file().read(), daemon: try PublicIdentity.argument(daemon, whose: "--daemon"))
    }
    return login
  }
}
