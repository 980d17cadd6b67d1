// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logging
import ServiceLifecycle
import SodiumCrypto

/// `threadkeeper demo`
struct DemoCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "demo",
    abstract: "Watch the daemon work, with a private broker and simulated border routers.",
    discussion: """
      Begins with a link to the status page. On a terminal the page stays until you press Ctrl-C; otherwise \
      it ends with the story, after less than a minute. Needs the program mosquitto, listens on 127.0.0.1 \
      only, sends nothing on the local network, and leaves nothing behind.

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
        guard StandardStream.output.isTerminal else { return }
        stage.timeline.write("The page stays until you press Ctrl-C.\n")
        // All that was promised is done: Ctrl-C is no interruption now.
        while (try? await Task.sleep(for: .seconds(3_600))) != nil {}
      }
    } catch {
      await stage.end(running)
      throw error
    }
    await stage.end(running)
  }
}
