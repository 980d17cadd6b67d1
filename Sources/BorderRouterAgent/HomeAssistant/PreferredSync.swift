import Broker
import Logging
import SodiumCrypto
import ThreadDataset
import ThreadRequests
import ThreadkeeperSupport
import Wire

/// Keeps Home Assistant's preferred network that of the home, with a person's consent, which the daemon asks for. Pure:
/// the caller brings the time and does the effects.
///
/// There is a *difference* where Home Assistant prefers another network than the home, or has none or an older dataset
/// of the home's. It compares seconds, as Home Assistant does.
///
/// | state | what comes | what follows |
/// |---|---|---|
/// | any | the home's preferred credentials are not known | nothing |
/// | any but writing | no difference | *idle*, and what was remembered is forgotten |
/// | any but writing | Home Assistant's dataset of the network can't be used | *idle*, and logged: it stays there |
/// | idle | the difference that was remembered, also by an earlier run; or any within a day of a denial | nothing |
/// | idle | a difference | `ask`: *asking* |
/// | idle | a difference in the time alone, which the list may not have shown | `reread`: *checking* |
/// | checking | the same difference, after the next look | `ask`: *asking* |
/// | asking | the credentials, of the network that was asked for | `write`: *writing* |
/// | asking | another answer: denied | `remember` the difference: *idle* |
/// | asking | another answer: nobody has decided in a day, or nobody can | *resting* for a day |
/// | asking | another answer, or none in a day | *resting* for ten minutes |
/// | asking | the same difference, after ten minutes | `ask`: the request may be lost; the daemon has one question |
/// | asking | the connection to the broker is there again, in time | `ask`, for the same reason |
/// | writing | it is written | *idle*, and logged |
/// | writing | it is refused, or another dataset of the network is kept | `remember` the difference: *idle* |
/// | writing | trouble with Home Assistant, for less than a minute | it is tried again |
/// | writing | trouble for longer | *resting* for a day: the dataset is not kept, and a person is asked again |
/// | resting | the same difference, in time | nothing |
/// | resting | another difference, or the time is over | as *idle* |
struct PreferredSync: Sendable {
  /// The home's preferred network, whose credentials are known.
  struct Home: Equatable, Sendable {
    var network: ExtendedPANID
    /// Seconds of its Active Timestamp.
    var timestamp: UInt64
  }

  enum Event: Equatable, Sendable {
    case connected
    /// What the home and Home Assistant have.
    case compared(Home?, StoreSummary)
    case credentials(OperationalDataset)
    /// The daemon's answer to the request for them.
    case refused(code: String, message: String)
    case written
    /// Home Assistant does not take it, and why.
    case notTaken(String)
    case troubled
  }

  enum Effect: Equatable, Sendable {
    case ask
    /// The TLVs of this network are to be read with the next look.
    case reread(ExtendedPANID)
    /// What is not to be asked about again is to be known to the next run, too; nil: there is no such difference.
    case remember(String?)
    case write(OperationalDataset)
    case log(RouterNote)
  }

  enum Pause {
    /// Longer than a question waits.
    static let answer = day + .seconds(180)
    static let write = Duration.seconds(60)
    static let other = Duration.seconds(600)
    static let day = Duration.seconds(86_400)
  }

  private struct Difference: Equatable, CustomStringConvertible {
    var home: Home
    var preferredThere: ExtendedPANID?
    var timestampThere: UInt64?

    var description: String {
      func word(_ value: (some CustomStringConvertible)?) -> String { value.map { "\($0)" } ?? "-" }
      return "\(home.network) \(home.timestamp) \(word(preferredThere)) \(word(timestampThere))"
    }
  }

  private enum State: Equatable {
    case idle
    case checking(Difference)
    case asking(Difference, again: Duration, until: Duration)
    case writing(OperationalDataset, Difference, until: Duration)
    case resting(Difference, until: Duration)
  }

  private var state = State.idle
  private var lastRefusal: String?
  /// The difference that a person has denied last, or that Home Assistant does not let go.
  private var denied: String?
  /// When a person may be asked again, whatever the difference: the home's lists are not sealed.
  private var earliest = Duration.zero

  /// - Parameter denied: as it was to be remembered.
  init(denied: String? = nil) { self.denied = denied }

  /// What is to be written, for a minute at most.
  var pending: OperationalDataset? { if case .writing(let dataset, _, _) = state { dataset } else { nil } }

  /// - Parameter now: from any origin, never falling.
  mutating func handle(_ event: Event, at now: Duration) -> [Effect] {
    switch (event, state) {
    case (.connected, .asking(let difference, _, let end)) where now < end:
      state = .asking(difference, again: now + Pause.other, until: end)
      return [.ask]
    case (.compared(let home, let store), _): return compared(home, store, at: now)
    case (.credentials(let dataset), .asking(let difference, _, _)):
      lastRefusal = nil
      guard dataset.extendedPANID == difference.home.network else {
        state = .resting(difference, until: now + Pause.other)
        return []
      }
      state = .writing(dataset, difference, until: now + Pause.write)
      return [.write(dataset)]
    case (.refused(let code, let message), .asking(let difference, _, _)):
      return refused(code, message, difference, at: now)
    case (.written, .writing(_, let difference, _)):
      state = .idle
      return [.log(RouterNote(.info, "it prefers the home's network \(difference.home.network) now"))]
    case (.notTaken(let why), .writing(_, let difference, _)):
      state = .idle
      return [.log(RouterNote(.warning, why))] + remember("\(difference)")
    case (.troubled, .writing(_, let difference, let end)):
      guard now >= end else { return [] }
      state = .resting(difference, until: now + Pause.day)
      return [
        .log(
          RouterNote(
            .warning,
            "the home's preferred network could not be written to it within a minute; a person is asked again in a "
              + "day, or after a restart of the agent"))
      ]
    default: return []
    }
  }

  private mutating func compared(_ home: Home?, _ store: StoreSummary, at now: Duration) -> [Effect] {
    if case .writing = state { return [] }
    guard let home else { return [] }
    guard let difference = Self.difference(home, store) else {
      state = .idle
      return remember(nil)
    }
    guard !store.unusable.contains(home.network) else {
      state = .idle
      return log("keeps_another", Self.keepsAnother)
    }
    switch state {
    case .asking(_, let again, let end) where now < min(again, end): return []
    case .asking(let old, _, let end) where old == difference:
      if now < end {
        state = .asking(old, again: now + Pause.other, until: end)
        return [.ask]
      }
      state = .resting(difference, until: now + Pause.other)
      return log("no_answer", "nobody has answered the request for the home's preferred credentials")
    case .resting(let old, let end) where old == difference && now < end: return []
    default: break
    }
    guard "\(difference)" != denied, now >= earliest else {
      state = .idle
      return []
    }
    if difference.preferredThere == home.network, state != .checking(difference) {
      state = .checking(difference)
      return [.reread(home.network)]
    }
    state = .asking(difference, again: now + Pause.other, until: now + Pause.answer)
    let why =
      difference.preferredThere == home.network
      ? "it has an older dataset of the home's preferred network \(home.network)"
      : "it does not prefer the home's network \(home.network)"
    return [
      .ask, .log(RouterNote(.info, "\(why): the home's credentials are asked for, which needs a person's consent")),
    ]
  }

  private static func difference(_ home: Home, _ store: StoreSummary) -> Difference? {
    let timestamp = store.timestamps[home.network]
    let isSame = store.preferred == home.network && timestamp.map { $0 >= home.timestamp } == true
    return isSame ? nil : Difference(home: home, preferredThere: store.preferred, timestampThere: timestamp)
  }

  private mutating func refused(_ code: String, _ message: String, _ difference: Difference, at now: Duration)
    -> [Effect]
  {
    let words = "threadkeeper does not give the home's preferred credentials (\(code)): \(message)"
    switch code {
    case "consent_denied":
      state = .idle
      earliest = now + Pause.day
      return remember("\(difference)") + log(code, words)
    case "consent_expired", "consent_required": state = .resting(difference, until: now + Pause.day)
    default: state = .resting(difference, until: now + Pause.other)
    }
    return log(code, words)
  }

  private mutating func remember(_ new: String?) -> [Effect] {
    defer { denied = new }
    return new == denied ? [] : [.remember(new)]
  }

  static let keepsAnother =
    "it keeps another dataset of the home's preferred network; delete that one there (Settings, Devices & services, "
    + "Thread, Configure), and a person is asked again"

  private mutating func log(_ code: String, _ words: String) -> [Effect] {
    defer { lastRefusal = code }
    return code == lastRefusal ? [] : [.log(RouterNote(.warning, words))]
  }
}

/// Requests of an enrolled login to the daemon: sealed, and known among those of others by a random transaction.
struct SealedRequester: Sendable {
  enum Answer: Equatable {
    /// Of `networks/list`, which is not sealed; nil: no network is preferred, or its credentials are not known.
    case home(PreferredSync.Home?)
    case credentials(OperationalDataset)
    case refused(Command, code: String, message: String)
  }

  enum Command: String, CaseIterable {
    case networks = "networks/list"
    case preferred = "preferred/get"
  }

  /// Bytes of an answer; the daemon's fit into a packet of 64 KiB.
  private static let limit = 1 << 20

  let base: String
  let user: String
  let keys: AgentKeys
  /// Of the latest request of each command, until it has its answer.
  private(set) var transactions: [Command: String] = [:]

  func answerTopic(_ command: Command) -> String {
    OutboundTopic(base: base).answer(to: user, command: command.rawValue)
  }

  private func requestTopic(_ command: Command) -> String { "\(base)/in/\(user)/request/\(command.rawValue)" }

  /// - Parameter now: Unix seconds.
  /// - Throws: `SealingError`.
  mutating func publication(_ command: Command, now: Int64) throws(SealingError) -> Publication {
    let transaction = Base64.encode(RandomBytes.make(12), .urlSafe)
    let topic = requestTopic(command)
    var fields = RequestFields()
    fields.transaction = transaction
    var inner = fields
    inner.purpose = command == .preferred ? .write : nil
    fields.sealed = try Envelope.seal(
      inner.json(), to: keys.daemon, from: keys.own,
      at: .init(topic: topic, order: .identifier(transaction), now: now, lifetime: Envelope.requestLifetime))
    transactions[command] = transaction
    return Publication(
      topic: topic, payload: fields.json(), messageExpiry: UInt32(Envelope.requestLifetime),
      contentType: "application/json", correlationData: Array(transaction.utf8), responseTopic: answerTopic(command),
      token: .random(in: 0 ... .max))
  }

  /// - Parameter now: Unix seconds.
  /// - Returns: nil for what answers no request of this agent that waits, and for what is no list: anybody may have
  ///   sent that, and the answer may still come.
  mutating func answer(_ message: IncomingMessage, now: Int64) -> Answer? {
    guard let command = Command.allCases.first(where: { answerTopic($0) == message.topic }),
      let transaction = transactions[command], !message.isRetained, message.correlationData == Array(transaction.utf8)
    else { return nil }
    guard let answer = read(message, to: command, transaction, now: now) else { return nil }
    transactions[command] = nil
    return answer
  }

  /// - Returns: nil where the broker has refused no request of this agent.
  mutating func command(refusedAt topic: String) -> Command? {
    guard let command = Command.allCases.first(where: { requestTopic($0) == topic }) else { return nil }
    transactions[command] = nil
    return command
  }

  private func read(_ message: IncomingMessage, to command: Command, _ transaction: String, now: Int64) -> Answer? {
    guard message.payload.count <= Self.limit, let answer = ThreadAnswer(json: message.payload) else {
      return command == .networks ? nil : Self.unreadable
    }
    guard answer.status == .ok else {
      return .refused(
        command, code: answer.error?.code ?? "unknown", message: answer.error?.message ?? "the daemon says no more")
    }
    switch command {
    case .networks: return answer.data?.networks.map(Self.home)
    case .preferred: return credentials(answer.data?.sealed, transaction, topic: message.topic, now: now)
    }
  }

  private static func home(_ networks: [JSONValue]) -> Answer {
    guard let preferred = networks.first(where: { $0["preferred"]?.bool == true }),
      let network = preferred["ext_pan_id"]?.text.flatMap({ ExtendedPANID(hex: $0) }),
      let timestamp = preferred["active_timestamp"]?.integer.flatMap({ UInt64(exactly: $0) })
    else { return .home(nil) }
    return .home(.init(network: network, timestamp: timestamp))
  }

  /// Only what the daemon has sealed to this agent, for this request, counts.
  private func credentials(_ sealed: SealedText?, _ transaction: String, topic: String, now: Int64) -> Answer {
    guard let sealed else {
      return .refused(.preferred, code: "not_sealed", message: "its answer is not sealed, so anybody may have made it")
    }
    var opened: OpenedEnvelope
    do throws(EnvelopeRefusal) {
      opened = try Envelope.open(sealed, with: keys.own, from: [keys.daemon], topic: topic, now: now)
    } catch { return .refused(.preferred, code: error.rawValue, message: error.message) }
    defer { wipe(&opened.body) }
    guard opened.order == .identifier(transaction),
      let dataset = try? AnswerData(reading: opened.body).credentials?.first?.dataset, dataset.kind == .complete
    else { return Self.unreadable }
    return .credentials(dataset)
  }

  private static let unreadable = Answer.refused(
    .preferred, code: "invalid_payload", message: "its answer cannot be read")
}
