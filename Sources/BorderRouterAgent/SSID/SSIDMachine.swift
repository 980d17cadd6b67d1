import Logging

/// Decides when an SSID is published. Times count from the agent's start.
///
/// | what happens | what it does |
/// |---|---|
/// | a look finds an SSID that was not published | publishes it, when connected |
/// | a look finds nothing, or fails | nothing; it is logged when it begins |
/// | the connection is there | nothing: a look follows, because the last one may be of another place |
/// | the connection ends without an answer | publishes it again at the first look on the next one, like the last row |
/// | acted upon | publishes it again after an hour, for a router that left and came back |
/// | rejected, and time may help | publishes it again at the next look, from the sixth time on once a minute |
/// | rejected or refused for another reason | publishes it again after five minutes |
/// | no answer | publishes it again after a minute; that one does not wait on the broker |
struct SSIDMachine {
  enum Event {
    case looked(SSIDReading)
    case connected
    case disconnected
    /// What has become of the latest that was published.
    case answered(EventOutcome)
  }

  enum Effect: Equatable {
    /// - Parameter isRepetition: an earlier one may wait on the broker.
    case publish(SSID, isRepetition: Bool)
    case log(RouterNote)
  }

  enum Pause {
    static let accepted = Duration.seconds(3_600)
    static let unanswered = Duration.seconds(60)
    static let rejected = Duration.seconds(300)
    static let often = Duration.seconds(60)
  }

  /// What another router, or another moment, changes. `not_found`: the router has not announced itself.
  static let passing: Set = ["not_found", "out_of_order", "rate_limited", "expired", "not_yet_valid"]
  static let quickAttempts = 5

  private struct Attempt {
    var ssid: SSID
    /// Not before.
    var next: Duration
    var hasAnswer = false
  }

  private let subject: SSIDSubject
  private var isConnected = false
  /// The last that was found.
  private var found: SSID?
  private var attempt: Attempt?
  private var trouble: SSIDReading?
  private var rejection: String?
  private var rejections = 0

  init(_ subject: SSIDSubject) { self.subject = subject }

  var standing: AgentStanding? {
    if case .trouble(let trouble)? = trouble { return .fails(trouble.logText) }
    return found == nil && trouble == nil ? nil : .works
  }

  mutating func handle(_ event: Event, at now: Duration) -> [Effect] {
    switch event {
    case .looked(let reading): return looked(reading, now)
    case .connected:
      isConnected = true
      return []
    case .disconnected:
      isConnected = false
      // It may not have arrived, and is not offered again: by then the SSID may be another.
      if attempt?.hasAnswer == false { attempt?.next = now }
      return []
    case .answered(let outcome): return answered(outcome, now)
    }
  }

  private mutating func looked(_ reading: SSIDReading, _ now: Duration) -> [Effect] {
    guard case .ssid(let ssid) = reading else {
      defer { trouble = reading }
      guard reading != trouble else { return [] }
      if case .trouble(let trouble) = reading { return [.log(.init(.warning, trouble.logText))] }
      return [.log(.init(.info, "there is no SSID: not connected, or hidden"))]
    }
    var effects: [Effect] = []
    if ssid != found || trouble != nil { effects.append(.log(.init(.info, "the SSID is \(ssid)"))) }
    (trouble, found) = (nil, ssid)
    let last = attempt?.ssid == ssid ? attempt : nil
    guard isConnected, now >= last?.next ?? now else { return effects }
    attempt = Attempt(ssid: ssid, next: now + Pause.unanswered)
    return effects + [.publish(ssid, isRepetition: last?.hasAnswer == false)]
  }

  private mutating func answered(_ outcome: EventOutcome, _ now: Duration) -> [Effect] {
    guard attempt != nil else { return [] }
    attempt?.hasAnswer = true
    guard let code = outcome.code else {
      attempt?.next = now + Pause.accepted
      defer { (rejection, rejections) = (nil, 0) }
      return rejection == nil ? [] : [.log(.init(.info, "threadkeeper accepts the SSID of \(subject) now"))]
    }
    rejections += 1
    if !Self.passing.contains(code) {
      attempt?.next = now + Pause.rejected
    } else {
      attempt?.next = rejections <= Self.quickAttempts ? now : now + Pause.often
    }
    guard rejection != code else { return [] }
    rejection = code
    let text =
      code == EventOutcome.refused
      ? "the broker refuses the SSID of \(subject): \(outcome.message)"
      : "threadkeeper has rejected the SSID of \(subject) (\(code)): \(outcome.message)"
    return [.log(.init(.warning, "\(text); it is tried again"))]
  }
}
