import SodiumCrypto
import ThreadDataset

/// What a border router says of itself.
package struct RouterReading: Sendable, Equatable {
  /// Its active dataset, with all that is secret; nil where it has none.
  package var active: OperationalDataset?
  /// What its network changes to, with `pendingTimestamp` and `delayTimer`; nil where nothing is pending.
  package var pending: OperationalDataset?
}

/// One conversation with a border agent, as a value: the channel is opened, the datasets are asked for (MGMT_ACTIVE_GET,
/// MGMT_PENDING_GET of the Thread specification, chapter "Mesh Commissioning Protocol"), the channel is closed. It takes
/// 20 s at most.
package struct Conversation: Sendable {
  /// What follows from an input. Nothing comes after the result.
  package enum Event: Sendable {
    case send([UInt8])
    case ended(Result<RouterReading, BorderAgentError>)
  }

  private var channel: Channel
  private let end: ContinuousClock.Instant
  /// Those that have no answer yet.
  private var questions: [(step: BorderAgentError.Step, question: Question)]
  private var retry: Retry
  /// The router has said that the answer comes by itself.
  private var isAccepted = false
  private var reading = RouterReading()
  private var hasEnded = false

  /// - Parameters:
  ///   - secret: the PSKc's 16 bytes, or the nine digits of a code.
  ///   - random: 200 bytes are taken: what `Channel` takes, and four for each question.
  /// - Throws: `BorderAgentError.cannotStart`.
  package init(secret: SecretBytes, random: RandomSource, at now: ContinuousClock.Instant) throws(BorderAgentError) {
    channel = try Channel(secret: secret, random: random, at: now)
    questions = [
      (.activeDataset, Question(path: ["c", "ag"], random: random)),
      (.pendingDataset, Question(path: ["c", "pg"], random: random)),
    ]
    (end, retry) = (now + .seconds(20), Retry(at: now))
  }

  /// When `tick` is to be called.
  package var deadline: ContinuousClock.Instant { min(end, channel.deadline ?? retry.deadline) }

  /// Sends the first datagram.
  package mutating func start(at now: ContinuousClock.Instant) -> [Event] { take(channel.start(at: now), at: now) }

  /// Takes a datagram of the router.
  package mutating func receive(_ datagram: [UInt8], at now: ContinuousClock.Instant) -> [Event] {
    guard !hasEnded else { return [] }
    return now >= end ? finish(.failure(.tooSlow(step))) : take(channel.receive(datagram, at: now), at: now)
  }

  /// Sends again what has no answer, or gives up, when it is time.
  package mutating func tick(at now: ContinuousClock.Instant) -> [Event] {
    guard !hasEnded else { return [] }
    if now >= end { return finish(.failure(.tooSlow(step))) }
    guard channel.deadline == nil else { return take(channel.tick(at: now), at: now) }
    switch retry.due(at: now) {
    case .again: return isAccepted ? [] : ask()
    case .giveUp: return finish(.failure(.noAnswer(step)))
    case nil: return []
    }
  }

  /// Ends it from here.
  package mutating func stop() -> [Event] { hasEnded ? [] : finish(.failure(.stopped)) }

  private var step: BorderAgentError.Step { channel.step ?? questions.first?.step ?? .pendingDataset }

  private mutating func take(_ events: [Channel.Event], at now: ContinuousClock.Instant) -> [Event] {
    var outcome: [Event] = []
    for event in events where !hasEnded {
      switch event {
      case .send(let datagram): outcome.append(.send(datagram))
      case .opened:
        retry = Retry(at: now)
        outcome += ask()
      case .received(let bytes): outcome += receive(bytes, at: now)
      case .ended(let error): outcome += finish(.failure(error))
      }
    }
    return outcome
  }

  private mutating func receive(_ bytes: SecretBytes, at now: ContinuousClock.Instant) -> [Event] {
    guard let (step, question) = questions.first else { return [] }
    switch bytes.withUnsafeBytes(question.read) {
    case .other: return []
    case .accepted:
      isAccepted = true
      retry.extend(at: now)
      return []
    case .invalid(let flaw): return finish(.failure(.invalid(question.name, flaw)))
    case .answer(let code, let payload, let acknowledgement):
      let acknowledged = acknowledgement.flatMap { channel.protect($0) }.map { [Event.send($0)] } ?? []
      do throws(BorderAgentError) { try take(code, payload, of: step, question) } catch {
        return acknowledged + finish(.failure(error))
      }
      questions.removeFirst()
      (retry, isAccepted) = (Retry(at: now), false)
      return acknowledged + (questions.isEmpty ? finish(.success(reading)) : ask())
    }
  }

  private mutating func take(_ code: UInt8, _ payload: [UInt8], of step: BorderAgentError.Step, _ question: Question)
    throws(BorderAgentError)
  {
    let number = "\(code >> 5).\(code & 0x1F < 10 ? "0" : "")\(code & 0x1F)"
    // Who can't say what is pending has said what is.
    if step == .pendingDataset, code != Question.changed { return }
    guard code == Question.changed else { throw .invalid(question.name, "it is refused with \(number)") }
    let dataset: OperationalDataset?
    do throws(DatasetError) { dataset = payload.isEmpty ? nil : try OperationalDataset(bytes: payload) } catch {
      throw .invalid(question.name, error.message)
    }
    if step == .activeDataset { reading.active = dataset } else { reading.pending = dataset }
  }

  private mutating func ask() -> [Event] {
    guard let question = questions.first?.question, let datagram = channel.protect(question.bytes) else { return [] }
    return [.send(datagram)]
  }

  private mutating func finish(_ result: Result<RouterReading, BorderAgentError>) -> [Event] {
    hasEnded = true
    return (channel.close().map { [.send($0)] } ?? []) + [.ended(result)]
  }
}
