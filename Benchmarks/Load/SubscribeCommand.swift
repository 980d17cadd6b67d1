import ArgumentParser
import CBareSubscriber
import Foundation

/// The process of the bare subscriber. Prints `ready`, and when everything has come `done` with the
/// times of connection and last message, and with how long it was at work (see `bare_times`).
struct SubscribeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "subscribe", shouldDisplay: false)

  @Argument var port: Int32
  @Argument var filter: String
  @Argument var expected: Int
  /// Messages that may be in flight.
  @Option var window: Int32
  /// Where each message is committed before it is acknowledged.
  @Option var database: String?
  /// Bytes of the rows that are sealed for a message, for many of them at once; without: each message as it came.
  @Option var state: Int32?
  @Option var secret: Int32 = 0
  @Option var event: Int32 = 0

  func run() throws {
    var times = bare_times()
    let result =
      if let database, let state {
        bare_seal(
          port, "sealing-subscriber", filter, expected, window, database,
          bare_sizes(state: state, secret: secret, event: event), { Self.tell("ready") }, &times)
      } else if let database {
        bare_keep(port, "committing-subscriber", filter, expected, window, database, { Self.tell("ready") }, &times)
      } else { bare_subscribe(port, "bare-subscriber", filter, expected, window, { Self.tell("ready") }, &times) }
    guard result == 0 else { throw ExitCode(1) }
    Self.tell("done \(times.begin) \(times.end) \(times.worked)")
  }

  static func tell(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
}

/// The process of the publisher. Prints `done` with the times of first byte and last acknowledgement.
struct PublishCommand: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "publish", shouldDisplay: false)

  @Argument var port: Int32
  @Argument var file: String
  @Argument var count: Int
  @Option var window = 1000
  /// Packets a second; 0: as fast as it goes.
  @Option var rate = 0

  func run() throws {
    let packets = [UInt8](try Data(contentsOf: URL(fileURLWithPath: file)))
    var times = bare_times()
    let result = bare_publish(port, packets, packets.count, count, window, rate, &times)
    guard result == 0 else { throw ExitCode(1) }
    SubscribeCommand.tell("done \(times.begin) \(times.end)")
  }
}
