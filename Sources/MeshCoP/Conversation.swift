import SodiumCrypto
import ThreadDataset

/// What a border router says of itself.
package struct RouterReading: Sendable, Equatable {
  /// Its active dataset, with all that is secret; nil where it has none.
  package var active: OperationalDataset?
  /// What its network changes to, with `pendingTimestamp` and `delayTimer`; nil where nothing is pending.
  package var pending: OperationalDataset?
}

/// One conversation with a border agent, as a value: it opens a DTLS session, requests the datasets (MGMT_ACTIVE_GET,
/// MGMT_PENDING_GET of the Thread specification, chapter "Mesh Commissioning Protocol") and closes the session. It takes
/// 20 s at most. A copy, as fuzzing makes it, has the same secrets, which are zeroed with the last one.
package struct Conversation: Sendable {
  /// What follows from an input. Nothing comes after the result.
  package enum Event: Sendable {
    case send([UInt8])
    case ended(Result<RouterReading, BorderAgentError>)
  }

  private var client: DTLSClient
  private let end: ContinuousClock.Instant
  /// Those that have no response yet.
  private var requests: [(step: BorderAgentError.Step, request: CoAPRequest)]
  private var timer: RetransmissionTimer
  /// The router has acknowledged the request, and its response follows separately.
  private var isAcknowledged = false
  private var reading = RouterReading()
  private var hasEnded = false

  /// - Parameters:
  ///   - secret: the PSKc's 16 bytes, or the nine digits of a code.
  ///   - random: 200 bytes are taken: what `DTLSClient` takes, and four for each request.
  /// - Throws: `BorderAgentError.cannotStart`.
  package init(secret: SecretBytes, random: RandomSource, at now: ContinuousClock.Instant) throws(BorderAgentError) {
    client = try DTLSClient(secret: secret, random: random, at: now)
    let active = CoAPRequest(path: ["c", "ag"], random: random)
    let pending = CoAPRequest(path: ["c", "pg"], random: random, after: active)
    requests = [(.activeDataset, active), (.pendingDataset, pending)]
    (end, timer) = (now + .seconds(20), RetransmissionTimer(at: now))
  }

  /// When `tick` is to be called.
  package var deadline: ContinuousClock.Instant { min(end, client.deadline ?? timer.deadline) }

  /// Sends the first datagram.
  package mutating func start(at now: ContinuousClock.Instant) -> [Event] { take(client.start(at: now), at: now) }

  /// Takes a datagram of the router.
  package mutating func receive(_ datagram: [UInt8], at now: ContinuousClock.Instant) -> [Event] {
    guard !hasEnded else { return [] }
    return now >= end ? finish(.failure(.tooSlow(step))) : take(client.receive(datagram, at: now), at: now)
  }

  /// Sends the request or flight without an answer again, or gives up, when it is time.
  package mutating func tick(at now: ContinuousClock.Instant) -> [Event] {
    guard !hasEnded else { return [] }
    if now >= end { return finish(.failure(.tooSlow(step))) }
    guard client.deadline == nil else { return take(client.tick(at: now), at: now) }
    switch timer.due(at: now) {
    case .sendAgain: return isAcknowledged ? [] : sendRequest()
    case .giveUp: return finish(.failure(.noAnswer(step)))
    case nil: return []
    }
  }

  /// Ends it from here.
  package mutating func stop() -> [Event] { hasEnded ? [] : finish(.failure(.stopped)) }

  private var step: BorderAgentError.Step { client.step ?? requests.first?.step ?? .pendingDataset }

  private mutating func take(_ events: [DTLSClient.Event], at now: ContinuousClock.Instant) -> [Event] {
    var outcome: [Event] = []
    for event in events where !hasEnded {
      switch event {
      case .send(let datagram): outcome.append(.send(datagram))
      case .opened:
        timer = RetransmissionTimer(at: now)
        outcome += sendRequest()
      case .received(let bytes): outcome += receive(bytes, at: now)
      case .ended(let error): outcome += finish(.failure(error))
      }
    }
    return outcome
  }

  private mutating func receive(_ bytes: SecretBytes, at now: ContinuousClock.Instant) -> [Event] {
    guard let (step, request) = requests.first else { return [] }
    switch bytes.withUnsafeBytes(request.read) {
    case .other: return []
    case .acknowledged:
      isAcknowledged = true
      timer.extend(at: now)
      return []
    case .invalid(let flaw): return finish(.failure(.protocolError(part: request.name, flaw: flaw)))
    case .response(let code, let payload, let acknowledgement):
      let acknowledged = acknowledgement.flatMap { client.protect($0) }.map { [Event.send($0)] } ?? []
      do throws(BorderAgentError) { try take(code, payload, of: step, request) } catch {
        return acknowledged + finish(.failure(error))
      }
      requests.removeFirst()
      (timer, isAcknowledged) = (RetransmissionTimer(at: now), false)
      return acknowledged + (requests.isEmpty ? finish(.success(reading)) : sendRequest())
    }
  }

  private mutating func take(_ code: UInt8, _ payload: [UInt8], of step: BorderAgentError.Step, _ request: CoAPRequest)
    throws(BorderAgentError)
  {
    let flaw = "it is refused with \(code >> 5).\(code & 0x1F < 10 ? "0" : "")\(code & 0x1F)"
    // The active dataset is read, also where the router has no MGMT_PENDING_GET.
    if step == .pendingDataset, code != CoAPRequest.changed { return }
    guard code == CoAPRequest.changed else { throw .protocolError(part: request.name, flaw: flaw) }
    let dataset: OperationalDataset?
    do throws(DatasetError) { dataset = payload.isEmpty ? nil : try OperationalDataset(bytes: payload) } catch {
      throw .protocolError(part: request.name, flaw: error.message)
    }
    if step == .activeDataset { reading.active = dataset } else { reading.pending = dataset }
  }

  private mutating func sendRequest() -> [Event] {
    guard let request = requests.first?.request, let datagram = client.protect(request.bytes) else { return [] }
    return [.send(datagram)]
  }

  private mutating func finish(_ result: Result<RouterReading, BorderAgentError>) -> [Event] {
    hasEnded = true
    return (client.close().map { [.send($0)] } ?? []) + [.ended(result)]
  }
}
