// SPDX-License-Identifier: Apache-2.0

import MosquittoClient
import SealedEnvelope
import ThreadDataset

extension AgentLoop {
  /// As long as an envelope lives.
  private static let orderLimit = Duration.seconds(Envelope.longestLifetime)

  mutating func take(_ message: IncomingMessage) {
    guard let keys = configuration.keys else { return }
    let order: AdoptionOrder
    do throws(AdoptionOrder.Refusal) {
      order = try AdoptionOrder(
        message, keys: keys, now: Int64(nanosecondsSince1970() / 1_000_000_000))
    } catch {
      logger.warning("a message on \(message.topic) is not acted upon: \(error)")
      return
    }
    // One login may speak for several routers.
    guard order.agent == machine.identity else { return }
    guard order.id != doneOrder else {
      // Its answer may have been lost.
      perform(machine.handle(.reportWanted, at: now))
      return
    }
    guard !adoption.isBusy else { return }
    self.order = (order, now)
    look()
  }

  /// Begins what was ordered, with a router that answers.
  mutating func adopt(_ report: RouterReport) {
    guard let (order, since) = order, !adoption.isBusy else { return }
    guard now - since < Self.orderLimit, report.agent == order.agent else {
      logger.warning("\(order.agent): what it was sent came too late, or is for another router")
      self.order = nil
      return
    }
    perform(adoption.handle(.ordered(order, report), at: now))
  }

  mutating func perform(_ effects: [AdoptionMachine.Effect]) {
    for effect in effects {
      switch effect {
      case .log(let note): log(note)
      case .request(let request):
        // What has begun to change the router is finished, also when the agent stops.
        let answer = try? client.perform(request, isFinished: true)
        perform(adoption.handle(.answered(answer?.status), at: now))
      case .finished: finishAdoption()
      }
    }
  }

  private mutating func finishAdoption() {
    guard let (order, _) = order else { return }
    self.order = nil
    if case .report(let report) = look(), report.uses(order.dataset) { doneOrder = order.id }
    perform(machine.handle(.reportWanted, at: now))
  }
}
