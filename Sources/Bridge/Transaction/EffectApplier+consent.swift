// SPDX-License-Identifier: Apache-2.0

import ConsentLedger
import ThreadDataset

/// A question to a person, and its end.
extension EffectApplier {
  func publish(_ question: PendingConsent) throws {
    let reason = question.reason(namingHome: context.configuration.topics.homes.count > 1)
    let home = try context.home(named: question.subject.home).record
    let event = try progress.append(EventRecord(question, reason, home: home.id, now: context.now))
    try context.homeAssistantQuestions.reconcile(home, context.tx) { event }
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
    if let home = try? context.home(named: decided.subject.home).record,
      let event = EventRecord(decided, home: home.id, now: context.now)
    {
      let event = try progress.append(event)
      try removeButtons(of: decided, home, from: event)
      try context.homeAssistantQuestions.reconcile(home, context.tx) { event }
    }
    progress.outcome.news.add(decided)
  }

  /// Also where the broker is sent the buttons just now.
  private func removeButtons(
    of decided: ConsentRecord, _ home: HomeRecord, from event: Int64
  ) throws {
    guard let place = context.configuration.homeAssistantPlace(of: home.name) else { return }
    try HomeAssistantLedger.setDue(
      topic: place.questionTopic(decided.id.description), from: event, context.tx)
  }

  /// What Home Assistant is asked may change without an event: its login's enrolment.
  func checkButtons(of home: HomeRecord) throws {
    try context.homeAssistantQuestions.reconcile(home, context.tx) {
      try progress.append(EventRecord(time: context.now, home: home.id))
    }
  }

  private func settleAdoption(_ decided: ConsentRecord) throws {
    guard let agent = Adoptions.router(of: decided) else { return }
    let home = context.servedHomes.first { $0.record.name == decided.subject.home }
    let router = try home.flatMap { try RouterLedger.find(agent, home: $0.record.id, context.tx) }
    try apply(
      context.adoptions.settle(decided, router?.isPresent == true ? router : nil) {
        try home.flatMap { try context.preferredCredentials(of: $0) }
      })
  }
}
