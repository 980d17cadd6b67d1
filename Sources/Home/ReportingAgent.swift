/// A program of a login that reports each minute whether it can do its work, as each `threadkeeper agent` does. One
/// whose router's own events say so reports nothing.
///
/// | what comes | what follows |
/// |---|---|
/// | `heartbeat`: it can | the end of its alert |
/// | `sightings`: it can, and sees border routers | the same; they are passed on, where it may report them |
/// | `heartbeat` of a Matter server's agent, and what that server lacks | alert of its own, where that lasts |
/// | `offline`: it cannot, and why | alert, where that lasts |
/// | nothing for three minutes | alert |
/// | nothing for three minutes, and none since another one of its kind reported first | it is forgotten, and its alert ends: the other one came in its place |
/// | `leave`, or nothing for 30 days | it is forgotten, and its alert ends |
package struct ReportingAgent: Hashable, Sendable {
  /// The most that are kept of one user. One more replaces the one that reported the longest time ago.
  static let most = 64
  /// Seconds without a report after which it is silent: three of its intervals.
  static let silentAfter = 180
  /// What it does is written down at most once in so many seconds, where nothing else has changed.
  private static let savingInterval: UInt64 = 3_600

  let user: ExactName
  /// Among those of the user, and for people: its kind, and mostly what it works with.
  let name: ExactName
  /// What is wrong, in its own words; nil: nothing.
  package var trouble: String?
  /// It can, but its Matter server does not have what the home prefers: `trouble` says why.
  var serverDiffers = false
  /// When nothing was wrong last; nil: never.
  var workedAt: WireTime?
  var firstReportedAt: WireTime
  var reportedAt: WireTime
  package var isSilent = false
  var order = SequenceWindow()

  package var isWorking: Bool { trouble == nil && !isSilent }

  /// The first word of its name.
  private var kind: Substring { name.text.prefix { $0 != " " } }

  /// Whether it gives a Matter server the credentials of the home.
  fileprivate var isOfMatterServer: Bool { kind == "matter_server" }

  /// Whether another one came in its place, once it is silent: as where it has another address now. Of two that both
  /// run, each reports after the other one has begun.
  func isReplaced(by other: ReportingAgent) -> Bool { kind == other.kind && reportedAt < other.firstReportedAt }

  /// When it is silent, unless it reports before.
  ///
  /// - Parameter since: since when all reports are received.
  func silentAt(listeningSince since: WireTime) -> WireTime { max(reportedAt, since).adding(seconds: Self.silentAfter) }

  var forgottenAt: WireTime { reportedAt.adding(seconds: Home.retention) }

  /// Whether nothing has happened since an earlier report that has to be written down.
  func isSaved(by before: ReportingAgent) -> Bool {
    trouble == before.trouble && serverDiffers == before.serverDiffers && isSilent == before.isSilent
      && reportedAt.seconds / Self.savingInterval == before.reportedAt.seconds / Self.savingInterval
  }
}

extension Home {
  var allAgents: [ReportingAgent] { agents.values.flatMap(\.values) }

  /// Of the programs that give Matter servers the credentials, the one whose work is in the worst state; nil: there is
  /// none.
  package var matterServerAgent: ReportingAgent? {
    allAgents.filter(\.isOfMatterServer).sorted { $0.name < $1.name }.min { !$0.isWorking && $1.isWorking }
  }

  mutating func takeReport(_ message: RouterMessage, of name: ExactName, from user: ExactName) throws(HomeRejection) {
    let own = agents[user]
    let stored = own?[name]
    // Whoever makes up logins does not fill the home.
    guard own != nil || agents.count < rules.settings.routersPerHome else { return }
    var agent = stored ?? ReportingAgent(user: user, name: name, firstReportedAt: now, reportedAt: now)
    switch agent.order.take(message.order) {
    case .news: break
    case .duplicate:
      step.output.isDuplicate = true
      return
    case .outOfOrder:
      agents[user]?[name] = agent
      throw .outOfOrder
    }
    guard message.kind != .leave else {
      forgetAgents(of: user) { $0.name == name }
      return
    }
    if stored == nil, let own, own.count >= ReportingAgent.most {
      let oldest = own.values.min { $0.reportedAt < $1.reportedAt }
      forgetAgents(of: user) { $0.name == oldest?.name }
    }
    (agent.isSilent, agent.reportedAt) = (false, now)
    agent.trouble = message.kind == .offline || agent.isOfMatterServer ? message.trouble : nil
    agent.serverDiffers = message.kind != .offline && agent.trouble != nil
    if agent.trouble == nil { agent.workedAt = now }
    put(agent)
    sendOrders(to: user)
    if stored == nil { forgetAgents(of: user) { [agent] in $0.isSilent && $0.isReplaced(by: agent) } }
    guard message.kind == .sightings else { return }
    guard message.signature != nil else { throw .sightingsNotSealed }
    guard mayReportSightings(user) else { throw .mayNotReportSightings }
    step.output.sightings = message.sightings
  }

  /// Whether what a login sees of border routers counts: a person has enrolled it, and it is no border router's. Who has
  /// the login of one, or any other one of the broker, neither makes nor hides others.
  package func mayReportSightings(_ user: ExactName) -> Bool {
    clients[user]?.isRevoked == false && routers.counts.ids[team(of: user)] == nil
  }

  private mutating func put(_ agent: ReportingAgent) {
    let before = agents[agent.user, default: [:]].updateValue(agent, forKey: agent.name)
    // That it has outlived the beginning of another one is known after a crash, too.
    if let before, agent.isSaved(by: before),
      agents[agent.user]?.values.contains(where: { before.isReplaced(by: $0) && !agent.isReplaced(by: $0) }) != true
    {
      return
    }
    note(agent)
    checkAgents(of: agent.user)
  }

  private mutating func note(_ agent: ReportingAgent) {
    noteRecord(.agent(agent.user, agent.name))
    if let signer = step.signer { noteRecord(signer) }
  }

  /// Forgets those of a user that are meant.
  ///
  /// - Returns: whether there were any.
  @discardableResult mutating func forgetAgents(
    of user: ExactName, where isMeant: (ReportingAgent) -> Bool = { _ in true }
  ) -> Bool {
    let meant = agents[user]?.values.filter(isMeant) ?? []
    for agent in meant {
      agents[user]?[agent.name] = nil
      note(agent)
    }
    if agents[user]?.isEmpty == true { agents[user] = nil }
    if !meant.isEmpty { checkAgents(of: user) }
    return !meant.isEmpty
  }

  /// Those that are silent now, or have been for too long.
  mutating func checkAgents(_ link: Link) {
    for var agent in allAgents {
      let isSilentNow = !agent.isSilent && link.listeningSince.map { agent.silentAt(listeningSince: $0) <= now } == true
      let isReplaced = isSilentNow && agents[agent.user]?.values.contains(where: agent.isReplaced) == true
      if isReplaced || agent.forgottenAt <= now {
        forgetAgents(of: agent.user) { $0.name == agent.name }
      } else if isSilentNow {
        agent.isSilent = true
        put(agent)
      }
    }
  }

  /// Brings the alerts about the agents of a user in line.
  private mutating func checkAgents(of user: ExactName) {
    let idle = (agents[user]?.values.filter { !$0.isWorking } ?? []).sorted { $0.name < $1.name }
    setAlert(.agentNotWorking, about: idle.filter { $0.isSilent || !$0.serverDiffers }) {
      .agentNotWorking($0.isSilent ? nil : $0.trouble)
    }
    setAlert(.matterServerDiffers, about: idle.filter { $0.serverDiffers && !$0.isSilent }) {
      .matterServerDiffers($0.trouble ?? "")
    }

    /// The first one is explained.
    func setAlert(_ name: AlertName, about idle: [ReportingAgent], _ message: (ReportingAgent) -> AlertFacts.Message) {
      let facts = idle.first.map { first in
        var facts = AlertFacts(message(first))
        facts.user = user
        facts.since = first.workedAt
        facts.names = .init(idle.map(\.name.text))
        return facts
      }
      self.setAlert(AlertKey(name, .user(user)), facts)
    }
  }
}
