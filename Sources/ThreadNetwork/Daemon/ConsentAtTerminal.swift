import Foundation
import Synchronization

/// The person at this program's terminal, while a daemon waits for somebody's decision. Who keeps that
/// store may decide there; all others are shown who has to. It goes over connections of its own: the
/// one that asked gets the answer, whoever decides.
struct ConsentAtTerminal: Sendable {
  /// Characters of a question that may name several networks.
  private static let longest = 1_000
  /// The daemon gives a person two minutes, and says when they are over.
  private static let timeout = Duration.seconds(125)
  /// Between looks for the question: it may not have come to the daemon yet.
  private static let pause = Duration.milliseconds(150)
  /// One question of this program at a time, or the same one would be asked twice.
  private static let isTaken = Atomic(false)

  let daemon: DaemonSocket
  let request: ThreadRequest

  /// Returns when there is nothing more to ask, or the task is cancelled because the answer has come.
  func run() async {
    guard await takeTurn() else { return }
    defer { Self.isTaken.store(false, ordering: .releasing) }
    var asked: Set<String> = []
    // Until the answer is there: what was decided may not be what the call waits for in the end.
    while let question = await question(besides: asked) {
      guard let reason = question.reason else { return show(question) }
      let text = HarmlessText(reason, longest: Self.longest).text
      guard let choice = await choice(about: text) else { return }
      // Of what is refused the question is open still: the person may say something else.
      if await decide(question.id, choice) { asked.insert(question.id) }
    }
  }

  private func takeTurn() async -> Bool {
    while !Self.isTaken.compareExchange(expected: false, desired: true, ordering: .acquiringAndReleasing).exchanged {
      do { try await Task.sleep(for: Self.pause) } catch { return false }
    }
    return true
  }

  /// What this call waits for; nil when it waits for nobody.
  private func question(besides asked: Set<String>) async -> WaitingQuestion? {
    var look = ThreadRequest(.pendingConsents)
    look.home = request.home
    while !Task.isCancelled {
      do {
        let waiting = try await daemon.exchange(look, asAdministrator: true)?.pending ?? []
        if let own = waiting.first(where: { isOwn($0) && !asked.contains($0.id) }) { return own }
      } catch { guard Self.mayPass(error) else { return nil } }
      do { try await Task.sleep(for: Self.pause) } catch { return nil }
    }
    return nil
  }

  /// The same may be asked by several programs, and for several homes: only its own request tells which
  /// question is that of this call.
  private func isOwn(_ question: WaitingQuestion) -> Bool {
    request.transaction.map { question.isAwaited(by: $0) } ?? false
  }

  /// Too many calls at a time, or a connection that broke off, are no reason to give up; a daemon that
  /// does not know this is.
  private static func mayPass(_ error: any Error) -> Bool {
    guard let error = error as? THError else { return false }
    return error.reason == .busy || error.reason == .interrupted
  }

  private func show(_ question: WaitingQuestion) { TerminalConsent.show(HarmlessText(question.words()).text) }

  private func choice(about text: String) async -> TerminalConsent.Choice? {
    let withdrawal = QuestionWithdrawal()
    return await withTaskCancellationHandler {
      await withCheckedContinuation { done in
        SystemThread.run {
          done.resume(returning: TerminalConsent.choice(about: text, within: Self.timeout, unless: withdrawal))
        }
      }
    } onCancel: {
      withdrawal.withdraw()
    }
  }

  /// - Returns: whether there is no more to say about it.
  private func decide(_ id: String, _ choice: TerminalConsent.Choice) async -> Bool {
    var decision = ThreadRequest(choice == .no ? .denyConsent : .approveConsent)
    decision.home = request.home
    decision.id = id
    if choice == .always { decision.scope = .always }
    while !Task.isCancelled {
      do {
        _ = try await daemon.exchange(decision, asAdministrator: true)
        return true
      } catch { guard Self.mayPass(error) else { return !tells(error) } }
      // What was decided by a connection that broke off is refused the second time.
      do { try await Task.sleep(for: Self.pause) } catch { return true }
    }
    return true
  }

  /// - Returns: whether the person has to know of it.
  private func tells(_ error: any Error) -> Bool {
    // Somebody else was faster: then the answer is there.
    guard let error = error as? THError, error.reason != .notFound, !Task.isCancelled else { return false }
    TerminalConsent.show(HarmlessText("the daemon refuses it: \(error.localizedDescription)").text)
    return true
  }
}
