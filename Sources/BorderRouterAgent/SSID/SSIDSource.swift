import Broker
import Glibc
import Home
import ThreadDataset
import ThreadkeeperSupport
import Wire

/// Publishes the SSID of an access point: at the start, and when it changes.
///
/// ```
///  command, hostapd.conf ──▶ SSIDMachine ──▶ AgentLoop ──▶ broker
///                                 ▲                           │
///                                 └────── EventOutcome ◀──────┘
/// ```
struct SSIDSource: AgentSource {
  private let configuration: SSIDConfiguration
  private let agent: AgentLoop
  private var machine: SSIDMachine

  init(_ configuration: SSIDConfiguration, _ agent: AgentLoop) {
    (self.configuration, self.agent) = (configuration, agent)
    machine = SSIDMachine(configuration.subject)
    agent.connect(configuration.connection)
  }

  var pause: Duration { configuration.interval }

  var standing: AgentStanding? { machine.standing }

  mutating func look() {
    do { decide(.looked(try configuration.reading(until: agent.stop))) } catch let trouble as SSIDTrouble {
      decide(.looked(.trouble(trouble)))
    } catch {
      // The agent stops.
    }
  }

  mutating func handle(_ news: AgentNews) {
    switch news {
    case .connected:
      decide(.connected)
      look()
    case .disconnected: decide(.disconnected)
    case .answered(let outcome): decide(.answered(outcome))
    case .refused, .message: break
    }
  }

  private mutating func decide(_ event: SSIDMachine.Event) {
    for effect in machine.handle(event, at: agent.now) {
      switch effect {
      case .log(let note): agent.log(note)
      case .publish(let ssid, let isRepetition):
        // A late answer to an earlier SSID says nothing of the latest one.
        agent.publish(
          configuration.subject.event(ssid),
          expiry: isRepetition ? UInt32(SSIDMachine.Pause.unanswered.components.seconds) : nil, about: "SSID")
      }
    }
  }
}

/// Why a source says nothing about the SSID. Repeats nothing of what was read, which may hold a Wi-Fi password.
package enum SSIDTrouble: Error, Equatable, Sendable, CustomStringConvertible {
  /// More bytes than an SSID has.
  case tooLong(Int)
  case command(ToolProcess.Failure)
  case unreadable(file: String, code: Int32)
  case notAFile(String)
  case noSuchBSS(String, file: String)

  package var description: String {
    switch self {
    case .tooLong(let count): "\(count) bytes are no SSID, which has at most \(SSID.mostBytes)"
    case .command(let failure): "the command \(failure)"
    case .unreadable(let file, let code): "can't read \(file): \(String(cString: strerror(code)))"
    case .notAFile(let file): "\(file) is not a file, or has more than \(HostapdFile.mostBytes) bytes"
    case .noSuchBSS(let name, let file): "there is no BSS \(name) in \(file)"
    }
  }

  /// For the log, where what a program has written to standard error is not shown.
  var logText: String {
    if case .command(.ended) = self { "\(self); run this with --dry-run to see what it writes" } else { "\(self)" }
  }
}

/// What an agent of an SSID works with.
package struct SSIDConfiguration: AgentConfiguration {
  package var login: AgentLogin
  let origin: SSIDOrigin
  let subject: SSIDSubject
  /// Between two looks. A change of the Wi-Fi's name is rare, and a program may be run for each look.
  package var interval = Duration.seconds(10)
  /// For a command.
  package var timeout = Duration.seconds(5)
  /// Of this agent: a login may have several.
  private let instance = String(UInt64.random(in: 0 ... .max), radix: 16)

  package init(_ login: AgentLogin, origin: SSIDOrigin, subject: SSIDSubject) {
    (self.login, self.origin, self.subject) = (login, origin, subject)
  }

  package var label: (key: String, value: String) { ("ssid", "\(subject)") }

  /// An SSID that waits may be wrong by the time it arrives.
  package var resumes: Bool { false }

  package var connection: MosquittoConfiguration { login.connection("ssid \(instance)", answers: "ssid-\(instance)") }

  package func source(for agent: AgentLoop) -> any AgentSource { SSIDSource(self, agent) }

  package func preview() throws -> [String] {
    guard case .ssid(let ssid) = try reading(until: nil) else { return [] }
    return [login.writer.summary(of: subject.event(ssid))]
  }

  /// - Parameter signal: raised when the agent stops. Without it, what a command writes to standard error is shown.
  /// - Throws: `SSIDTrouble`, `ToolProcess.Stopped`.
  func reading(until signal: WakeSignal?) throws -> SSIDReading {
    switch origin {
    case .hostapd(let file, let bss): return try HostapdFile(path: file).reading(bss, of: file)
    case .command(let command):
      let process = ToolProcess(
        ["/bin/sh", "-c", command], mostOutput: 4_096, timeout: timeout, showsErrors: signal == nil)
      do { return try SSIDReading(firstLineOf: process.output(until: signal)) } catch let failure as ToolProcess.Failure
      { throw SSIDTrouble.command(failure) }
    }
  }
}

/// The name of a Wi-Fi network: 1 to 32 bytes of anything (IEEE 802.11, 9.4.2.2). As text: UTF-8, in which U+FFFD
/// stands for what is no UTF-8 and for control characters, so that it can stand in JSON, in a log and on a terminal.
struct SSID: Equatable, Sendable, CustomStringConvertible {
  static let mostBytes = 32

  let description: String

  /// - Returns: nil for a hidden network: no bytes, or zeros only.
  /// - Throws: `SSIDTrouble.tooLong`.
  init?(_ bytes: some Collection<UInt8>) throws(SSIDTrouble) {
    guard bytes.contains(where: { $0 != 0 }) else { return nil }
    guard bytes.count <= Self.mostBytes else { throw .tooLong(bytes.count) }
    var text = String.UnicodeScalarView()
    for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
      text.append(Self.isPlain(scalar) ? scalar : "\u{FFFD}")
    }
    description = String(text)
  }

  /// Neither a control character nor one that changes the direction or the line of what follows. The joiner of emoji
  /// is plain.
  private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .format: scalar == "\u{200D}"
    case .control, .lineSeparator, .paragraphSeparator: false
    default: true
    }
  }
}

/// What one look at a source has found.
enum SSIDReading: Equatable {
  case ssid(SSID)
  /// Not connected, switched off, or a hidden network.
  case none
  case trouble(SSIDTrouble)

  init(_ bytes: some Collection<UInt8>) throws(SSIDTrouble) { self = try SSID(bytes).map { .ssid($0) } ?? .none }

  /// - Parameter output: of a command: its first line, byte for byte, without its end. Blanks count: an SSID may begin
  ///   or end with them.
  init(firstLineOf output: [UInt8]) throws(SSIDTrouble) {
    var line = output.prefix { $0 != UInt8(ascii: "\n") }
    if line.last == UInt8(ascii: "\r") { line.removeLast() }
    try self.init(line)
  }
}

/// Where an SSID comes from.
package enum SSIDOrigin: Sendable {
  /// The first line that this command of `/bin/sh` prints.
  case command(String)
  /// What a file of hostapd says of this BSS; nil: of its first.
  case hostapd(file: String, bss: String?)
}

/// Whose Wi-Fi it is, as an `ssid` event names it.
package enum SSIDSubject: Sendable, CustomStringConvertible {
  case router(BorderAgentID)
  /// The name that routers of the login's team have announced.
  case accessPoint(String)

  package var description: String {
    switch self {
    case .router(let agent): "router \(agent)"
    case .accessPoint(let name): "access point \(name)"
    }
  }

  func event(_ ssid: SSID) -> InboundEvent {
    var event = InboundEvent(.ssid)
    event.message.ssid = "\(ssid)"
    switch self {
    case .router(let agent): event.agent = agent
    case .accessPoint(let name): event.message.accessPoint = name
    }
    return event
  }
}
