import Bridge
import Broker
import Foundation
import KeychainCore
import LocalAPI
import Logging
import Settings
import Synchronization
import TestKit
import Testing

@testable import Threadkeeper

/// A daemon within this process that is not connected to its broker, and commands that ask it: all of a command but
/// the streams and the exit of a process.
final class CommandScene {
  struct Outcome {
    var status: Int32 = 0
    var output = ""
    var error = ""
  }

  private final class Streams: Sendable { let outcome = Mutex(Outcome()) }

  let store: TemporaryStore
  let clock: ManualClock
  let context: OperationContext
  let configuration: String
  private var server: VarlinkServer?

  /// - Parameters:
  ///   - more: of the settings.
  ///   - store: that has something in it already.
  init(
    _ more: String = "", mqtt: String = "{host: broker.example, username: keeper}", store given: TemporaryStore? = nil
  ) throws {
    let clock = ManualClock()
    var options = KeychainOptions()
    options.now = { clock.microseconds }
    options.auditor = "a test"
    store = try given ?? TemporaryStore(options: options)
    self.clock = clock
    configuration = store.path + "/threadkeeper.yaml"
    let text = """
      mqtt: \(mqtt)
      store: {path: \(store.location.directory), key_file: \(store.keyFilePath)}
      alerts: {hold: 0}
      discovery: {mdns: off}
      http: {enabled: false}
      \(more)
      """
    try Self.write(text, to: configuration)
    let settings = try #require(
      SettingsLoader.load(file: configuration, environment: [:], stateDirectory: store.path).settings)
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    context = OperationContext(
      settings,
      bridge: try Bridge(
        BridgeConfiguration(settings, version: threadkeeperVersion),
        connection: MosquittoConfiguration(host: "127.0.0.1", clientID: "test"), clientID: "test",
        store: SealedRecords(store.keychain), clock: clock, logger: logger), logger: logger)
    try start()
  }

  deinit { stop() }

  /// Has commands find no daemon.
  func stop() { server?.stop() }

  /// Has them find one.
  func start() throws {
    var limits = VarlinkLimits.owner
    (limits.silence, limits.sending) = (.seconds(600), .seconds(600))
    server = try VarlinkServer(
      path: LocalAPISocket.path(context.settings), limits: limits, service: LocalAPISocket(context).service)
  }

  /// What a login publishes.
  func publish(_ kind: String, _ fields: String, by login: String, base: String = "threadkeeper") throws {
    try context.bridge.loop.received([
      IncomingMessage(topic: "\(base)/in/\(login)/\(kind)", payload: Array("{\(fields)}".utf8))
    ])
  }

  /// A router that a login announces.
  func announce(
    _ agent: String, _ name: String, on network: SampleNetwork, by login: String = "hub", base: String = "threadkeeper"
  ) throws {
    let dataset = try network.dataset(at: 1).hex
    try publish(
      "announce", #""border_agent_id":"\#(agent)","name":"\#(name)","dataset":"\#(dataset)""#, by: login, base: base)
  }

  /// A file beside the store; its path.
  @discardableResult func put(_ text: String, _ name: String) throws -> String {
    let path = "\(store.path)/\(name)"
    try Self.write(text, to: path)
    return path
  }

  private static func write(_ text: String, to path: String) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    chmod(path, 0o600)
  }

  /// - Parameter line: a command without the name of the program.
  func run(_ line: String, input: String = "") async -> Outcome {
    await run(line.split(separator: " ").map(String.init), input: input)
  }

  func run(_ words: [String], input: String = "") async -> Outcome {
    // Those about datasets have no settings.
    let options = words.first == "dataset" ? [] : ["--config", configuration]
    return await Self.run(words + options, input: input)
  }

  /// - Parameter each: gets what is written, as it comes.
  static func run(_ words: [String], input: String = "", each: @escaping @Sendable (String) -> Void = { _ in }) async
    -> Outcome
  {
    let streams = Streams()
    let receiver: @Sendable (StandardStream, String) -> Void = { stream, text in
      streams.outcome.withLock { outcome in
        switch stream {
        case .output: outcome.output += text
        case .error: outcome.error += text
        }
      }
      each(text)
    }
    let status = await StandardStream.$receiver.withValue(receiver) {
      await StandardInput.$text.withValue(input) { await ThreadkeeperCommand.status(running: words) }
    }
    return streams.outcome.withLock { outcome in
      outcome.status = status
      return outcome
    }
  }

  /// Runs commands, one after the other. What they print and how they end is what the golden file has.
  func check(_ golden: String, _ lines: [String]) async throws {
    var transcript = ""
    for line in lines {
      let outcome = await run(line)
      let errors = outcome.error.split(separator: "\n").map { "2> \($0)\n" }.joined()
      let end = outcome.status == 0 ? "" : "[exit \(outcome.status)]\n"
      transcript += "$ threadkeeper \(line)\n\(outcome.output)\(errors)\(end)\n"
    }
    try Golden.check(masked(transcript), golden)
  }

  /// Without what differs from run to run: ids and keys have numbers instead, in as many columns.
  func masked(_ transcript: String) -> String {
    var text = transcript.replacing(store.path, with: "DIRECTORY").replacing(threadkeeperVersion, with: "VERSION")
      .replacing("process \(getpid())", with: "process 1").replacing(#""pid" : \#(getpid())"#, with: #""pid" : 1"#)
      .replacing(#""pid":\#(getpid()),"#, with: #""pid":1,"#).replacing("user \(geteuid())", with: "user 0").replacing(
        "uid \(geteuid())", with: "uid 0"
      ).replacing("uid/\(geteuid())", with: "uid/0")
    // A column is as wide as the longest that is in it.
    let spare = String(repeating: " ", count: "\(geteuid())".count - 1)
    text = text.replacing("GRANTED BY" + spare, with: "GRANTED BY")
    for (pattern, kept, separator) in [
      (#/\b[cgp]-[0-9a-f]{8,16}\b/#, 2, nil), (#/tk1:[\w-]{86}:[0-9a-f]{7,8}/#, 4, ":"),
      (#/\b[0-9a-f]{4}(?:-[0-9a-f]{4}){7}\b/#, 0, "-"), (#/\b[0-9a-f]{32}\b/#, 0, nil),
    ] as [(Regex<Substring>, Int, Character?)] {
      var masks: [Substring: String] = [:]
      for value in text.matches(of: pattern).map(\.output) where masks[value] == nil {
        let number = "\(masks.count + 1)"
        let zeros = value.dropFirst(kept).map { $0 == separator ? String($0) : "0" }.joined()
        masks[value] = value.prefix(kept) + zeros.dropLast(number.count) + number
      }
      // One may begin with another.
      for (value, mask) in masks.sorted(by: { $0.key.count > $1.key.count }) {
        text = text.replacing(value, with: mask)
      }
    }
    return text.replacing(#/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/#, with: "2000-01-01T00:00:00Z").replacing(
      #/ in \d+ [hs]\n/#, with: " in 0 s\n")
  }
}
