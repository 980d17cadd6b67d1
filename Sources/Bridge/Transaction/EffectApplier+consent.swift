// SPDX-License-Identifier: Apache-2.0

import ConsentLedger
import ThreadDataset

/// A question to a person, and its end.
extension EffectApplier {
  func publish(_ question: PendingConsent) throws {
    let reason = question.reason(namingHome: context.configuration.topics.homes.count > 1)
    let home = try context.home(named: question.subject.home).record.id
    let event = try progress.append(EventRecord(question, reason, home: home, now: context.now))
    try announceButtons(of: question.subject.home, home, from: event)
    progress.outcome.news.add(question, reason)
  }

  /// Event and log, what it means for a router, and the answers that the question owes.
  func end(_ ended: EndedConsent) throws {
    try publish(ended.record)
    try settleAdoption(ended.record)
    let answers = SettledAnswers(
      requests: context.requests, step: TransactionStep(context: context, progress: progress))
    try apply(answers.effects(of: ended.settled(context.now)))
  }

  private func publish(_ decided: ConsentRecord) throws {
    // A home that the settings no longer name has no row only in a store that never had it.
    if let home = try? context.home(named: decided.subject.home),
      let event = EventRecord(decided, home: home.record.id, now: context.now)
    {
      let event = try progress.append(event)
      try announceButtons(of: decided.subject.home, home.record.id, from: event)
    }
    progress.outcome.news.add(decided)
  }

  /// The daemon's device has buttons for the question that Home Assistant is asked.
  private func announceButtons(of name: String, _ home: Int64, from event: Int64) throws {
    guard context.configuration.homeAssistant.asksForConsent,
      let place = context.configuration.homeAssistantPlace(of: name)
    else { return }
    try HomeAssistantLedger.setDue(
      place.bridgeTopic, of: nil, home: home, from: event, context.tx)
  }

  private func settleAdoption(_ decided: ConsentRecord) throws {
    guard let agent = Adoptions.router(of: decided) else { return }
    let home = context.servedHomes.first { $0.record.name == decided.subject.home }
    let router = try home.flatMap { try RouterLedger.find(agent, home: $0.record.id, context.tx) }
    try apply(
      context.adoptions.settle(decided, router?.isPresent == true ? router : nil) {
        try home.flatMap { try context.preferredNetwork(of: $0) }
      })
  }
}
