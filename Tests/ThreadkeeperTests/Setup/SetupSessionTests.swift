import Foundation
import Settings
import TestKit
import Testing
import ThreadkeeperSupport

@testable import Threadkeeper

@Suite("Setup and the service") struct SetupSessionTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  /// - Parameter tool: stands for `systemctl`.
  private func session(_ tool: String) throws -> SetupSession {
    let (file, state) = (directory.file("threadkeeper.yaml"), directory.file("state"))
    let place = try SetupPlace(file)
    let current = try #require(SetupDraft.load(place.text ?? "", place, stateDirectory: state).settings)
    let questions = SetupQuestions(
      flags: try SetupFlags.parse(["--broker", "embedded", "--open-page", "--no-validate"]), current: current,
      isFirst: true, prompt: ScriptedPrompt(), isAsking: false, given: nil, known: { _ in nil }, checkDaemon: { _ in },
      greet: { _ in nil }, makingLogin: { _ in nil })
    return SetupSession(
      questions: questions,
      agents: AgentSetup(
        questions: questions, system: SystemPlaces(environment: [SystemPlaces.rootVariable: directory.path]), token: nil
      ), options: try SettingsOptions.parse(["--config", file, "--state-directory", state]), place: place,
      isDryRun: false, service: SystemdService("none", tool: tool), restart: nil, progress: SetupProgress())
  }

  @Test("Where the service does not start, what was done is reported, with why and what to do") func doesNotStart()
    async throws
  {
    let (report, failure) = try await session("false").run()
    #expect(failure?.status == .unavailable && failure?.remedy?.contains("journalctl -u none") == true)
    #expect(report.written && report.storeMade && !report.serviceStarted && report.doctor == nil)
    #expect(report.page?.code == nil && report.next.first?.hasPrefix("threadkeeper run --config") == true)
    let text = report.text
    for part in ["threadkeeper.yaml: written.", "Back up its key", "?token=", "once the daemon runs"] {
      #expect(text.contains(part), "\(text)")
    }
    #expect(!text.contains("The service runs"))
    #expect(try String(contentsOfFile: directory.file("threadkeeper.yaml"), encoding: .utf8).contains("0.0.0.0"))
  }

  @Test("Where it starts, nothing is left to do for that") func starts() async throws {
    let (report, failure) = try await session("true").run()
    #expect(failure == nil && report.serviceStarted && report.text.contains("The service runs with these settings"))
    #expect(report.next.allSatisfy { !$0.contains("threadkeeper run") })
  }
}
