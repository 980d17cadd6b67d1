// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import BorderRouterAgent

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
