// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

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
