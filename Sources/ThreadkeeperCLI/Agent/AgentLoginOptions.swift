// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import BorderRouterAgent
import SealedEnvelope

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
