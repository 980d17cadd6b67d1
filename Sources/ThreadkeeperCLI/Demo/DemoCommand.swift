// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logging
import ServiceLifecycle
import SodiumCrypto

/// `threadkeeper demo`
struct DemoCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "demo",
    abstract: "Watch the daemon work, with a private broker and three simulated border routers.",
    discussion: """
      Takes less than a minute, needs the program mosquitto, and leaves nothing behind.

      Example:
        threadkeeper demo
      """)

  func run() async throws {
    try? ProcessHardening.forbidCoreDumps()
    let show = DemoShow()
    let group = ServiceGroup(
      configuration: ServiceGroupConfiguration(
        services: [
          .init(
            service: show, successTerminationBehavior: .gracefullyShutdownGroup,
            failureTerminationBehavior: .gracefullyShutdownGroup)
        ],
        gracefulShutdownSignals: [.sigterm, .sigint],
        logger: Logger(label: "threadkeeper.demo") { _ in SwiftLogNoOpLogHandler() }))
    do {
      try await group.run()
    } catch is CancellationError {
      // What a shell reports for a program that Ctrl-C has ended.
      throw ExitCode(130)
    }
  }
}

/// The demonstration as a service: who interrupts it finds everything put away, too.
struct DemoShow: Service {
  func run() async throws {
    let stage = try DemoStage()
    let running = stage.begin()
    do {
      try await cancelWhenGracefulShutdown {
        try await stage.ready()
        try await DemoStory(stage: stage).tell()
      }
    } catch {
      await stage.end(running)
      throw error
    }
    await stage.end(running)
  }
}
