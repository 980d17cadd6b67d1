// SPDX-License-Identifier: Apache-2.0

import Broker
import Glibc
import ThreadDataset
import ThreadkeeperSupport

/// Publishes the SSID of an access point: at the start, and when it changes.
///
/// ```
///  command, nmcli, iw, hostapd.conf ◀── SSIDReader ──▶ SSIDMachine ──▶ SSIDWriter ──▶ broker
///                                                           ▲                           │
///                                                           └───── EventOutcome ◀───────┘
/// ```
struct SSIDTask: AgentTask {
  private let configuration: SSIDConfiguration
  private let context: AgentContext
  private let reader: SSIDReader
  private var machine: SSIDMachine
  private var writer: SSIDWriter

  init(_ configuration: SSIDConfiguration, _ context: AgentContext) {
    self.configuration = configuration
    self.context = context
    reader = SSIDReader(configuration.source, timeout: configuration.timeout, signal: context.stop)
    machine = SSIDMachine(configuration.subject)
    writer = configuration.writer
  }

  var pause: Duration { configuration.interval }

  var standing: AgentStanding? { machine.standing }

  func start() { context.connect(configuration.connection) }

  mutating func look() {
    if let reading = reader.look() { decide(on: .looked(reading)) }
  }

  mutating func handle(_ news: AgentNews) {
    switch news {
    case .connected:
      decide(on: .connected)
      look()
    case .disconnected: decide(on: .disconnected)
    case .refused(_, let message): decide(on: .rejected(code: "refused", message: message))
    case .answered(let outcome):
      // A late answer to an earlier SSID says nothing of the latest one.
      guard outcome.kind == .ssid, outcome.token == writer.lastSequence else { return }
      decide(
        on: outcome.code.map { .rejected(code: $0, message: outcome.message ?? "") } ?? .accepted)
    case .message: break
    }
  }

  func finish() -> [Publication] { [] }

  private mutating func decide(on event: SSIDMachine.Event) {
    for effect in machine.handle(event, at: context.now) {
      switch effect {
      case .log(let note): context.log(note)
      case .publish(let ssid, let isRepetition): publish(ssid, isRepetition)
      }
    }
  }

  private mutating func publish(_ ssid: SSID, _ isRepetition: Bool) {
    let expiry = isRepetition ? UInt32(SSIDMachine.Pause.unanswered.components.seconds) : nil
    let event = context.event(.ssid) { () throws(SealingError) in
      try writer.publication(of: ssid, expiry: expiry, now: nanosecondsSince1970())
    }
    if let event { context.publish(event) }
  }
}

/// Why a source says nothing about the SSID. Repeats nothing of what was read, which may hold a Wi-Fi password.
package enum SSIDTrouble: Error, Equatable, Sendable, CustomStringConvertible {
  /// More bytes than an SSID has.
  case tooLong(Int)
  case tool(String, ToolProcess.Failure)
  case unreadable(file: String, code: Int32)
  case notAFile(String)
  case noSuchBSS(String, file: String)
  case malformed(tool: String)

  package var description: String {
    switch self {
    case .tooLong(let count):
      "\(count) bytes are no SSID, which has at most \(SSID.mostBytes)"
    case .tool(let tool, let failure): "\(tool) \(failure)\(Self.hint(tool, failure))"
    case .unreadable(let file, let code):
      "can't read \(file): \(String(cString: strerror(code)))"
    case .notAFile(let file):
      "\(file) is not a file, or has more than \(HostapdFile.mostBytes) bytes"
    case .noSuchBSS(let name, let file): "there is no BSS \(name) in \(file)"
    case .malformed(let tool): "what \(tool) prints can't be understood"
    }
  }

  /// For the log, where what a program has written to standard error is not shown.
  var logText: String {
    if case .tool(_, .ended) = self {
      "\(self); run this with --dry-run to see what it writes"
    } else {
      "\(self)"
    }
  }

  /// nmcli(1), EXIT STATUS; iw ends with the negative errno.
  private static func hint(_ tool: String, _ failure: ToolProcess.Failure) -> String {
    switch (tool, failure) {
    case ("nmcli", .ended(8)): ": NetworkManager is not running"
    case ("nmcli", .ended(10)), ("iw", .ended(237)): ": there is no such interface"
    case ("nmcli", .ended(2)): ": it does not know an option; it must be 1.16 or newer"
    default: ""
    }
  }
}

/// Makes publications of `ssid` events.
struct SSIDWriter {
  let subject: SSIDSubject
  private let answerTopic: String
  private var encoder: EventEncoder

  /// - Parameter instance: names this agent among those of the login, in the topic of its answers.
  init(base: String, user: String, subject: SSIDSubject, keys: AgentKeys?, instance: String) {
    self.subject = subject
    encoder = EventEncoder(base: base, user: user, keys: keys)
    answerTopic = encoder.answerTopic("ssid-\(instance)")
  }

  private struct Body: Encodable {
    var borderAgentID: String?
    var accessPoint: String?
    var ssid: String

    enum CodingKeys: String, CodingKey {
      case borderAgentID = "border_agent_id"
      case accessPoint = "access_point"
      case ssid
    }
  }

  /// The number of the latest publication, which its answer names.
  var lastSequence: UInt64 { encoder.lastSequence }

  /// - Parameters:
  ///   - expiry: seconds after which the broker drops it; nil: it waits for a daemon that is away.
  ///   - now: nanoseconds since 1970.
  /// - Throws: `SealingError`.
  mutating func publication(
    of ssid: SSID, expiry: UInt32?, now: UInt64
  ) throws(SealingError) -> Publication {
    let body = body(of: ssid)
    return try encoder.publication(
      .ssid, responseTopic: answerTopic, expiry: expiry, now: now
    ) { _ in body }
  }

  /// For people.
  func summary(of ssid: SSID) -> String { encoder.summary(.ssid, body(of: ssid)) }

  private func body(of ssid: SSID) -> [UInt8] {
    var body = Body(ssid: "\(ssid)")
    switch subject {
    case .router(let agent): body.borderAgentID = "\(agent)"
    case .accessPoint(let name): body.accessPoint = name
    }
    return WireJSON().encode(body)
  }
}

/// What an agent of an SSID works with.
package struct SSIDConfiguration: AgentConfiguration {
  package var login: AgentLogin
  package var source: SSIDSource
  package var subject: SSIDSubject
  /// Between two looks. A change of the Wi-Fi's name is rare, and a program may be run for each look.
  package var interval = Duration.seconds(10)
  /// For a program that is run.
  package var timeout = Duration.seconds(5)
  /// Of this agent: a login may have several.
  private let instance = String(UInt64.random(in: 0 ... .max), radix: 16)

  package init(_ login: AgentLogin, source: SSIDSource, subject: SSIDSubject) {
    self.login = login
    self.source = source
    self.subject = subject
  }

  package var label: (key: String, value: String) { ("ssid", "\(subject)") }

  /// An SSID that waits may be wrong by the time it arrives.
  package var offersAgain: Bool { false }

  package func check() throws(MosquittoError) { try connection.check() }

  package func task(in context: AgentContext) -> any AgentTask { SSIDTask(self, context) }

  /// Looks once, and publishes nothing. What a program writes to standard error is shown.
  package func look() async throws -> SSIDReading {
    try await SystemThread.result {
      SSIDReader(source, timeout: timeout, showsErrors: true).look() ?? .none
    }
  }

  /// What it would publish.
  package func summary(of ssid: SSID) -> String { writer.summary(of: ssid) }

  var writer: SSIDWriter {
    SSIDWriter(
      base: login.base, user: login.user, subject: subject, keys: login.keys, instance: instance)
  }

  var connection: MosquittoConfiguration {
    login.connection("ssid \(instance)", answers: "ssid-\(instance)")
  }
}

/// The name of a Wi-Fi network: 1 to 32 bytes of anything (IEEE 802.11, 9.4.2.2). As text: UTF-8, in which U+FFFD
/// stands for what is no UTF-8 and for control characters, so that it can stand in JSON, in a log and on a terminal.
package struct SSID: Equatable, Sendable, CustomStringConvertible {
  package static let mostBytes = 32

  package let description: String

  /// - Returns: nil for a hidden network: no bytes, or zeros only.
  /// - Throws: `SSIDTrouble.tooLong`.
  package init?(_ bytes: some Collection<UInt8>) throws(SSIDTrouble) {
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
package enum SSIDReading: Equatable, Sendable {
  case ssid(SSID)
  /// Not connected, switched off, or a hidden network.
  case none
  case trouble(SSIDTrouble)
}

/// Where an SSID comes from.
package enum SSIDSource: Equatable, Sendable {
  /// The first line that this command of `/bin/sh` prints.
  case command(String)
  /// What NetworkManager is connected to, or offers, on this interface; nil: on the first that is.
  case networkManager(interface: String?)
  /// What the kernel's Wi-Fi knows of this interface.
  case iw(interface: String)
  /// What a file of hostapd says of this BSS; nil: of its first.
  case hostapd(file: String, bss: String?)

  /// The program that must be there.
  package var tool: String? {
    switch self {
    case .command, .hostapd: nil
    case .networkManager: "nmcli"
    case .iw: "iw"
    }
  }

  /// 1 to 15 bytes, as the kernel takes them (IFNAMSIZ), and nothing that a program takes for an option.
  package static func isInterface(_ name: String) -> Bool {
    (1...15).contains(name.utf8.count) && !name.hasPrefix("-") && name != "." && name != ".."
      && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "/") }
  }
}

/// Whose Wi-Fi it is, as an `ssid` event names it.
package enum SSIDSubject: Equatable, Sendable, CustomStringConvertible {
  case router(BorderAgentID)
  /// The name that routers of the login's team have announced.
  case accessPoint(String)

  package var description: String {
    switch self {
    case .router(let agent): "router \(agent)"
    case .accessPoint(let name): "access point \(name)"
    }
  }
}
