import Broker
import Logging
import ThreadDataset

/// Keeps the default Thread credentials of a Matter server those that the home prefers, with a person's consent, which
/// the daemon asks for. Pure: the caller brings the time, asks, and does what `action` says with the next look.
///
/// The server is *in step* while it has been given what the home prefers now, still has credentials, and names no other
/// network. What it was given by an earlier run is not known, and it may have forgotten it: so a start needs the
/// credentials, which "always" gives without another question.
///
/// | state | what comes | what follows |
/// |---|---|---|
/// | any | the home's list or the server is not known | nothing |
/// | any | the home has credentials of no preferred network | *idle*; from schema 12 on, what was given is taken back |
/// | any | the server is in step | *idle* |
/// | any | it is not, and the credentials are here | they are given, with each look until it takes them |
/// | any | it refuses them | they are given again after ten minutes |
/// | idle | it is not in step | `ask`: *asking* |
/// | asking | the credentials, of the network that was asked for | *idle*, and they are given |
/// | asking | another answer: denied, or nobody has decided in a day | *resting* for a day |
/// | asking | another answer, or none in a day | *resting* for ten minutes |
/// | asking | the same, after ten minutes, or on another connection to the broker | `ask`: the request may be lost |
/// | asking, resting | the home prefers something else | as *idle* |
/// | resting | the time is over | as *idle* |
struct MatterFeed: Sendable {
  typealias Home = PreferredSync.Home

  enum Event: Equatable, Sendable {
    case connected
    case looked(MatterServer)
    /// What the home prefers, as the daemon lists it.
    case listed(Home?)
    case credentials(OperationalDataset)
    /// The daemon's answer to the request for them.
    case refused(code: String, message: String)
    case done(Action)
    /// The server does not take them, and its code.
    case notTaken(String)
    case troubled(HomeAssistantTrouble)
  }

  enum Effect: Equatable, Sendable {
    case ask
    case log(RouterNote)
  }

  enum Action: Equatable, Sendable {
    case give(OperationalDataset)
    case takeBack
  }

  enum Pause {
    static let answer = PreferredSync.Pause.answer
    static let day = PreferredSync.Pause.day
    static let other = PreferredSync.Pause.other
  }

  private enum State: Equatable {
    case idle
    case asking(Home, again: Duration, until: Duration)
    case resting(Home, until: Duration)
  }

  private var state = State.idle
  private var server: MatterServer?
  private var isListed = false
  private var home: Home?
  /// What a person has agreed to, for as long as the home prefers it.
  private var known: (home: Home, dataset: OperationalDataset)?
  /// What the server was given last.
  private var given: Home?
  /// Not before.
  private var nextTry = Duration.zero
  /// Why it is not in step.
  private var obstacle: String?
  private var trouble: HomeAssistantTrouble?
  private var troubles = 0

  /// Until the next look, where that is not the usual time.
  var pause: Duration? { HomeAssistantMachine.pause(after: troubles) }

  private var isInStep: Bool {
    guard let server, let home else { return false }
    return given == home && server.hasCredentials && (server.network ?? home.network) == home.network
  }

  /// What is to be done at the server.
  func action(at now: Duration) -> Action? {
    guard let server, isListed, now >= nextTry else { return nil }
    guard let home else {
      return server.namesCredentials && given != nil && server.network == given?.network ? .takeBack : nil
    }
    guard !isInStep, let known, known.home == home else { return nil }
    return .give(known.dataset)
  }

  /// The server is restarted now and then: what passes by itself counts from the fifth look on.
  var standing: AgentStanding? {
    if let trouble { return trouble.mayPass && troubles < 5 ? nil : .fails(trouble.ofMatterServer) }
    guard let server, isListed else { return nil }
    guard let home, !isInStep else { return .works }
    if let obstacle { return .serverDiffers(obstacle) }
    // It is given with the next look.
    guard known?.home != home else { return nil }
    let state =
      if given?.network == home.network { "it has an older dataset of" } else if mayHave(home, server) {
        "it does not say whether it has the current dataset of"
      } else { "it lacks" }
    return .serverDiffers(
      "\(state) the home's network \(home.network): a person has to agree; run `threadkeeper consent list` on the "
        + "daemon's machine")
  }

  /// An earlier run may have given it.
  private func mayHave(_ home: Home, _ server: MatterServer) -> Bool {
    given == nil && server.hasCredentials && (server.network ?? home.network) == home.network
  }

  /// - Parameter now: from any origin, never falling.
  mutating func handle(_ event: Event, at now: Duration) -> [Effect] {
    switch event {
    case .connected:
      guard case .asking(let home, _, let end) = state, now < end else { return [] }
      state = .asking(home, again: now + Pause.other, until: end)
      return [.ask]
    case .looked(let new):
      let isBack = trouble != nil
      (server, trouble, troubles) = (new, nil, 0)
      return (isBack ? [.log(RouterNote(.info, "it answers again"))] : []) + compare(at: now)
    case .listed(let new):
      (isListed, home) = (true, new)
      return compare(at: now)
    case .credentials(let dataset): return take(dataset, at: now)
    case .refused(let code, let message):
      guard case .asking(let home, _, _) = state else { return [] }
      let isLong = ["consent_denied", "consent_expired", "consent_required"].contains(code)
      state = .resting(home, until: now + (isLong ? Pause.day : Pause.other))
      let again = isLong ? "; \(Self.asksAgain)" : ""
      return note("threadkeeper does not give the home's preferred credentials (\(code)): \(message)\(again)")
    case .done(.give):
      (given, obstacle) = (known?.home, nil)
      server?.hasCredentials = true
      if server?.network != nil { server?.network = given?.network }
      return [.log(RouterNote(.info, "it has the home's network \(given.map { "\($0.network)" } ?? "") now"))]
    case .done(.takeBack):
      given = nil
      return [.log(RouterNote(.info, "the home prefers no network any more: its credentials were taken back"))]
    case .notTaken(let code):
      nextTry = now + Pause.other
      return note("it does not take the home's credentials (\(code)); its log says more")
    case .troubled(let new):
      troubles += 1
      defer { trouble = new }
      return new == trouble ? [] : [.log(RouterNote(.warning, new.ofMatterServer))]
    }
  }

  private mutating func compare(at now: Duration) -> [Effect] {
    guard server != nil, isListed else { return [] }
    if known?.home != home { known = nil }
    guard let home, !isInStep else {
      (state, obstacle) = (.idle, nil)
      return []
    }
    guard known == nil else { return [] }
    switch state {
    case .asking(home, let again, let end) where now < min(again, end): return []
    case .asking(home, _, let end) where now < end:
      state = .asking(home, again: now + Pause.other, until: end)
      return [.ask]
    case .asking(home, _, _):
      state = .resting(home, until: now + Pause.other)
      return note("nobody has answered the request for the home's preferred credentials")
    case .resting(home, let end) where now < end: return []
    default:
      state = .asking(home, again: now + Pause.other, until: now + Pause.answer)
      obstacle = nil
      let words = "the home's credentials are asked for, which needs a person's consent"
      return [.ask, .log(RouterNote(.info, words))]
    }
  }

  private mutating func take(_ dataset: OperationalDataset, at now: Duration) -> [Effect] {
    guard case .asking(var home, _, _) = state else { return [] }
    guard dataset.extendedPANID == home.network else {
      state = .resting(home, until: now + Pause.other)
      return []
    }
    // It may be newer than the list was.
    home.timestamp = dataset.activeTimestamp?.seconds ?? home.timestamp
    (state, obstacle, nextTry) = (.idle, nil, now)
    (self.home, known) = (home, (home, dataset))
    return []
  }

  /// The daemon does not ask about the same for two minutes after a no.
  private static let asksAgain =
    "a person is asked again in a day, or when the agent is restarted, two minutes after a no at the earliest"

  private mutating func note(_ words: String) -> [Effect] {
    defer { obstacle = words }
    return words == obstacle ? [] : [.log(RouterNote(.warning, words))]
  }
}
