import Synchronization
import TestKit

@testable import LocalAPI

/// The sample service on a socket of its own. It ends with the last reference.
final class SampleServer: Sendable {
  let sample = SampleService()
  let server: VarlinkServer
  private let directory: TemporaryDirectory

  var path: String { directory.file("run/varlink.sock") }

  init(
    limits change: (inout VarlinkLimits) -> Void = { _ in },
    judge: @escaping @Sendable (SocketPeer) -> VarlinkVerdict = { _ in .admitted(.owner) }
  ) throws {
    directory = try TemporaryDirectory()
    var limits = VarlinkLimits.unhurried
    change(&limits)
    server = try VarlinkServer(
      path: directory.file("run/varlink.sock"), reach: .everybody, limits: limits, service: sample.service, judge: judge
    )
  }

  func client() async throws -> VarlinkClient {
    guard let client = try await VarlinkClient.connect(to: path, within: .unhurried) else { throw NobodyListens() }
    return client
  }

  private struct NobodyListens: Error {}

  func caller() throws -> RawCaller { try RawCaller(path) }

  /// Whether a new connection is served.
  func answers() async throws -> Bool {
    let caller = try caller()
    caller.ping("a")
    return try await caller.reply() == Self.pong("a")
  }

  static func ping(_ text: String) -> String { call("Ping", #"{"text":"\#(text)"}"#) }
  static func pong(_ text: String) -> String { #"{"parameters":{"text":"\#(text)"}}"# }

  /// - Parameter flag: `more` or `oneway`.
  static func call(_ method: String, _ parameters: String = "{}", _ flag: String? = nil) -> String {
    let flags = flag.map { #","\#($0)":true"# } ?? ""
    return #"{"method":"org.example.sample.\#(method)","parameters":\#(parameters)\#(flags)}"#
  }
}

extension RawCaller {
  /// Calls a method of the sample service.
  func call(_ method: String, _ parameters: String = "{}", _ flag: String? = nil) {
    send(SampleServer.call(method, parameters, flag))
  }

  func ping(_ text: String) { send(SampleServer.ping(text)) }
}

extension Duration {
  /// Beside a thousand other tests a call may wait for minutes.
  static let unhurried = Duration.seconds(600)
}

extension VarlinkLimits {
  static var unhurried: VarlinkLimits {
    var limits = VarlinkLimits.owner
    limits.silence = .unhurried
    limits.sending = .unhurried
    limits.noPlace = VarlinkError("org.example.sample.Full")
    return limits
  }
}

/// A service for the tests: `org.example.sample`.
final class SampleService: Sendable {
  struct Text: Codable, Sendable, Equatable { var text: String }
  struct Number: Codable, Sendable, Equatable { var number: Int }
  struct Size: Codable, Sendable { var byteCount: Int }

  static let name = "org.example.sample"
  static let ping = VarlinkMethod<Text, Text>(name, "Ping", for: .admitted)
  static let fill = VarlinkMethod<Size, Text>(name, "Fill", for: .admitted)
  static let hold = VarlinkMethod<VarlinkNothing, VarlinkNothing>(name, "Hold", for: .admitted)
  static let teamOnly = VarlinkMethod<VarlinkNothing, VarlinkNothing>(name, "Team", for: .team)
  static let ownerOnly = VarlinkMethod<VarlinkNothing, VarlinkNothing>(name, "Owner", for: .owner)
  static let fail = VarlinkMethod<Text, VarlinkNothing>(name, "Fail", for: .admitted)
  static let count = VarlinkStream<Number, Number>(name, "Count", for: .admitted)
  /// Sends so many replies at once, and no more until it ends.
  static let wait = VarlinkStream<Number, Number>(name, "Wait", for: .admitted)
  /// Sends until that fails.
  static let flood = VarlinkStream<Size, Text>(name, "Flood", for: .admitted)

  static let interface = VarlinkInterface(
    """
    # For tests.
    interface org.example.sample

    method Ping(text: string) -> (text: string)
    method Fill(byte_count: int) -> (text: string)
    # method Commented() -> ()
    method Hold() -> ()
    method Team() -> ()
    method Owner() -> ()
    method Fail(text: string) -> ()
    method Planned() -> ()
    method Count(number: int) -> (number: int)
    method Wait(number: int) -> (number: int)
    method Flood(byte_count: int) -> (text: string)

    error Failed (message: string)
    """)

  private let counts = Mutex((held: 0, cancelled: 0, sent: 0, pinged: [String]()))
  private let holder = Mutex<VarlinkCaller?>(nil)

  /// Who has called `Hold` last.
  var holding: VarlinkCaller? { holder.withLock { $0 } }

  var held: Int { counts.withLock { $0.held } }
  var cancelled: Int { counts.withLock { $0.cancelled } }
  var sent: Int { counts.withLock { $0.sent } }
  var pinged: [String] { counts.withLock { $0.pinged } }

  var service: VarlinkService {
    VarlinkService(
      .init(vendor: "Example", product: "Sample", version: "1", url: "https://example.org"),
      interfaces: [Self.interface],
      endpoints: [
        Self.ping.answered { [self] text, _ in
          counts.withLock { $0.pinged.append(text.text) }
          return text
        }, Self.fill.answered { size, _ in Text(text: String(repeating: "x", count: size.byteCount)) },
        Self.hold.answered { [self] _, caller in
          holder.withLock { $0 = caller }
          counts.withLock { $0.held += 1 }
          defer { counts.withLock { $0.cancelled += 1 } }
          try caller.wait(until: .now + .seconds(3_600))
          return VarlinkNothing()
        }, Self.teamOnly.answered { _, _ in VarlinkNothing() }, Self.ownerOnly.answered { _, _ in VarlinkNothing() },
        Self.fail.answered { text, _ in throw VarlinkError("org.example.sample.Failed", ["message": "\(text.text)"]) },
        Self.count.answered { limit, replies in
          for number in 1..<max(limit.number, 1) { try replies.send(Number(number: number)) }
          return limit
        },
        Self.wait.answered { limit, replies in
          for number in 0..<limit.number { try replies.send(Number(number: number + 1)) }
          try replies.wait(for: .seconds(3_600))
          return limit
        },
        Self.flood.answered { [self] size, replies in
          let text = Text(text: String(repeating: "x", count: size.byteCount))
          do {
            while true {
              try replies.send(text)
              counts.withLock { $0.sent += 1 }
            }
          } catch {
            counts.withLock { $0.cancelled += 1 }
            throw error
          }
        },
      ], failure: { VarlinkError("org.example.sample.Failed", ["message": "\($0)"]) })
  }
}
