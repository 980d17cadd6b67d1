// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// The person at this program's terminal, while a keeper waits for somebody's decision. Who keeps that
/// store may decide there; all others are shown who has to. It goes over connections of its own: the
/// one that asked gets the answer, whoever decides.
struct ConsentAtTerminal: Sendable {
  /// Characters of a question that may name several networks.
  private static let longest = 1_000
  /// The keeper gives a person two minutes, and says when they are over.
  private static let patience = Duration.seconds(125)
  /// Between looks for the question: it may not have come to the keeper yet.
  private static let pause = Duration.milliseconds(150)
  /// One question of this program at a time, or the same one would be asked twice.
  private static let isTaken = Atomic(false)

  let keeper: KeeperSocket
  let request: ThreadRequest

  /// Returns when there is nothing more to ask, or the task is cancelled because the answer has come.
  func run() async {
    guard await takeTurn() else { return }
    defer { Self.isTaken.store(false, ordering: .releasing) }
    guard let question = await question() else { return }
    guard let reason = question.reason else { return show(question) }
    let text = HarmlessText(reason, longest: Self.longest).text
    guard let choice = await choice(about: text) else { return }
    await decide(question.id, choice)
  }

  private func takeTurn() async -> Bool {
    while !Self.isTaken.compareExchange(
      expected: false, desired: true, ordering: .acquiringAndReleasing
    ).exchanged {
      do { try await Task.sleep(for: Self.pause) } catch { return false }
    }
    return true
  }

  /// What this call waits for; nil when it waits for nobody.
  private func question() async -> WaitingQuestion? {
    while !Task.isCancelled {
      do {
        let waiting =
          try await keeper.exchange(ThreadRequest(.pendingConsents), asKeeper: true)?.pending ?? []
        if let own = waiting.last(where: isOwn) { return own }
      } catch let error as THError {
        // Too many calls at a time are no reason to give up; a keeper that does not know this is.
        guard error.reason == .busy || error.reason == .interrupted else { return nil }
      } catch {
        return nil
      }
      do { try await Task.sleep(for: Self.pause) } catch { return nil }
    }
    return nil
  }

  /// Whether a question is that of this call: the keeper asks the same of one requester once.
  private func isOwn(_ question: WaitingQuestion) -> Bool {
    question.command == request.command.rawValue
      && (request.network == nil || question.extendedPANID == request.network?.description)
  }

  private func show(_ question: WaitingQuestion) {
    let seconds = (try? Date(question.expiresAt, strategy: .iso8601))
      .map { max(0, Int($0.timeIntervalSinceNow.rounded(.up))) }
    let limit = seconds.map { ", up to \($0) s" } ?? ""
    TerminalConsent.show(
      HarmlessText(
        "waiting for consent\(limit): `threadkeeper consent approve \(question.id)`"
      ).text)
  }

  private func choice(about text: String) async -> TerminalConsent.Choice? {
    let withdrawal = QuestionWithdrawal()
    return await withTaskCancellationHandler {
      await withCheckedContinuation { done in
        OwnThread.start {
          done.resume(
            returning: TerminalConsent.choice(
              about: text, within: Self.patience, unless: withdrawal))
        }
      }
    } onCancel: {
      withdrawal.withdraw()
    }
  }

  private func decide(_ id: String, _ choice: TerminalConsent.Choice) async {
    var decision = ThreadRequest(choice == .no ? .denyConsent : .approveConsent)
    decision.id = id
    if choice == .always { decision.scope = .always }
    do {
      _ = try await keeper.exchange(decision, asKeeper: true)
    } catch let error as THError {
      // Somebody else was faster: then the answer is there.
      guard error.reason != .notFound, !Task.isCancelled else { return }
      TerminalConsent.show(
        HarmlessText("the keeper refuses it: \(error.localizedDescription)").text)
    } catch {}
  }
}
