import ArgumentParser
import Foundation

/// Measures, prints a page, and ends with 0 whether the goals are reached or not: a machine that is busy
/// with other things is no error.
struct MeasureCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "measure", abstract: "Measure all figures and print them beside their goals.",
    discussion: """
      The daemon and the subscribers it is compared with take turns on one private broker, so that \
      what else the machine does falls on all. So do the keychain and the stores it is compared \
      with. Measure on a quiet machine: the daemon stores and publishes at the same time, so a busy \
      one lowers the ratios too.
      """)

  /// What is measured, in the order of the page.
  enum Name: String, CaseIterable, ExpressibleByArgument {
    case live, backlog, instructions, store, local, latency, memory, rest, recovery
    /// Only when it is named.
    case codec, page, rotation, homes, fleet, agent
    case million = "fleet-million"

    var isOnPage: Bool { ![.codec, .page, .rotation, .homes, .fleet, .agent, .million].contains(self) }
  }

  @Flag(help: "Fewer and shorter rounds: a minute, and rougher numbers.") var quick = false

  @Flag(help: "Print a JSON object instead of the page.") var json = false

  @Option(help: "How often each pair is measured. Default: 3, quick 1.") var rounds: Int?

  @Option(help: "Messages of one measurement. Default: 20000, quick 5000.") var messages: Int?

  @Option(
    help: ArgumentHelp(
      "Only these: \(Name.allCases.map(\.rawValue).joined(separator: ", ")). "
        + "Default: all but codec, page, rotation, homes, agent, and those of a fleet.", valueName: "part")) var only:
    [Name] = []

  @Option(help: ArgumentHelp("Write the page to this file, when all is measured in full.", valueName: "file"))
  var write: String?

  @Option(help: ArgumentHelp("The `threadkeeper` to measure. Default: beside this one.", valueName: "file")) var daemon:
    String?

  @Option(help: ArgumentHelp("Where stores are made; its disk is measured. Default: .build.", valueName: "directory"))
  var directory = ".build"

  @Option(help: ArgumentHelp("The version of Swift, for the page.", valueName: "version")) var swift = "unknown"

  @Option(help: .hidden) var peers = "Benchmarks/Peers"

  @Option(help: .hidden) var tools = ".build/test-tools"

  func run() async throws {
    guard FileManager.default.fileExists(atPath: peers) else {
      throw ValidationError("there is no \(peers) here: start it in the project's folder")
    }
    let began = Date()
    let load = Machine.load
    let workspace = try Workspace(in: directory, daemon: daemon)
    let interruption = Interruption(removing: workspace.path)
    defer { withExtendedLifetime(interruption) { workspace.remove() } }
    let machine = Machine(storesIn: workspace.path)
    let versions = Versions(daemon: try workspace.daemon, swift: swift)
    Progress.say("\(machine.processors) processors (\(machine.model)), load average \(load.formatted(2))")
    var size = quick ? Size.quick : Size.full
    size.rounds = rounds ?? size.rounds
    size.messages = messages ?? size.messages
    let parts = try await measure(workspace, size)
    let report = Report(
      machine: machine, versions: versions,
      run: Report.Run(
        date: began.formatted(.iso8601.year().month().day()), minutes: Date().timeIntervalSince(began) / 60,
        loadBefore: load, loadAfter: Machine.load), size: size, parts: parts)
    print(json ? try report.json() : report.page, terminator: json ? "\n" : "")
    if let write { try save(report, to: write) }
  }

  private func measure(_ workspace: Workspace, _ size: Size) async throws -> [Part] {
    let peers = Peers(scripts: peers, tools: tools)
    var parts: [Part] = []
    let ways = Delivery.allCases.filter { way in wants(way == .live ? .live : .backlog) }
    if !ways.isEmpty {
      parts += try IntakeMeasurement(workspace: workspace, peers: peers, size: size, ways: ways).run()
    }
    for name in Name.allCases where wants(name) {
      switch name {
      case .live, .backlog: break
      case .instructions:
        parts.append(try InstructionMeasurement(workspace: workspace, peers: peers, messages: size.counted).run())
      case .store: parts.append(try StoreMeasurement(workspace: workspace, peers: peers, size: size).run())
      case .local: parts.append(try LocalAPIMeasurement(workspace: workspace, size: size).run())
      case .latency: parts.append(try await LatencyMeasurement(workspace: workspace, size: size).run())
      case .codec: parts.append(try CodecMeasurement().run())
      case .memory: parts.append(try MemoryMeasurement(workspace: workspace).run())
      case .rest: parts.append(try RestMeasurement(workspace: workspace, size: size).run())
      case .recovery: parts.append(try await RecoveryMeasurement(workspace: workspace, size: size).run())
      case .page: parts.append(try PageMeasurement(workspace: workspace, size: size).run())
      case .rotation: parts.append(try RotationMeasurement(workspace: workspace, items: size.rotatedItems).run())
      case .homes: parts.append(try await HomesMeasurement(workspace: workspace, size: size).run())
      case .fleet: parts += try await FleetMeasurement(workspace: workspace, tools: tools, size: size).run()
      case .agent: parts.append(try AgentMeasurement(workspace: workspace, size: size).run())
      case .million: parts.append(try FleetSimulation(workspace: workspace, tools: tools, isQuick: quick).run())
      }
    }
    return parts
  }

  private func wants(_ name: Name) -> Bool { only.isEmpty ? name.isOnPage : only.contains(name) }

  /// Nothing is written that does not have all figures.
  private func save(_ report: Report, to path: String) throws {
    guard only.isEmpty, !quick, rounds == nil, messages == nil else {
      Progress.say("\(path) is left as it is: not all was measured in full")
      return
    }
    try Data(report.page.utf8).write(to: URL(fileURLWithPath: path))
    Progress.say("wrote \(path)")
  }
}
