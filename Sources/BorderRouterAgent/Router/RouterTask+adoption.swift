// SPDX-License-Identifier: Apache-2.0

import Broker
import ThreadDataset

extension RouterTask {
  private var time: Int64 { Int64(nanosecondsSince1970() / 1_000_000_000) }

  /// Seconds before an order's end at which it is given up, so that the report arrives before threadkeeper stops waiting.
  private static let margin: Int64 = 10

  mutating func take(_ message: IncomingMessage) {
    guard let keys = configuration.login.keys else { return }
    let order: AdoptionOrder
    do throws(AdoptionOrder.Refusal) {
      order = try AdoptionOrder(message, keys: keys, now: time)
    } catch {
      context.logger.warning("a message on \(message.topic) is not acted upon: \(error)")
      return
    }
    // One login may publish for several routers.
    guard order.agent == machine.identity else { return }
    switch orders.take(order, time: time, at: now) {
    case .isKnown: break
    case .isDone: perform(machine.handle(.reportWanted(nil), at: now))
    case .refused(let why):
      context.logger.warning("\(order.agent): an order is not acted upon: \(why)")
    case .waits:
      machine.isAdopting = true
      if orders.current == nil {
        look()
      } else {
        context.logger.info("\(order.agent): an order waits until the one before it has ended")
      }
    }
  }

  /// Begins what was ordered, with a router that answers.
  mutating func adopt(_ report: RouterReport) {
    guard !adoption.isBusy else { return }
    if let order = orders.next, order.agent == report.agent,
      case .refused(let why) = AdoptionPlan(order.dataset, for: report)
    {
      return hold(order, why)
    }
    switch orders.next(time: time, at: now) {
    case .nothing: break
    case .dropped(let order, let why):
      machine.isAdopting = false
      context.logger.warning("\(order.agent): an order is not acted upon: \(why)")
    case .order(let order) where order.agent != report.agent:
      orders.end(isDone: false)
      machine.isAdopting = orders.next != nil
      context.logger.warning("\(order.agent): an order is not acted upon: it is for another router")
    case .order(let order): perform(adoption.handle(.ordered(order, report), at: now))
    }
  }

  /// An order that a person has agreed to waits for the end of what is in its way, for as long as it lives.
  private mutating func hold(_ order: AdoptionOrder, _ why: String) {
    guard order.expiresAt - time <= Self.margin else {
      if heldOrder != order.id { context.logger.warning("\(order.agent): an order waits: \(why)") }
      heldOrder = order.id
      return
    }
    orders.dropNext()
    context.logger.warning(
      "\(order.agent): an order is not acted upon: it has waited for too long: \(why)")
    report(.pendingChange)
  }

  /// Where the router is, after an order.
  private mutating func report(_ failure: AdoptionState?) {
    heldOrder = nil
    machine.isAdopting = orders.next != nil
    perform(machine.handle(.reportWanted(failure), at: now))
  }

  mutating func perform(_ effects: [AdoptionMachine.Effect]) {
    for effect in effects {
      switch effect {
      case .log(let note): context.log(note)
      case .look: look()
      case .request(let request):
        // What has begun to change the router is finished, also when the agent stops.
        let answer = try? client.perform(request, isFinished: true)
        perform(adoption.handle(.answered(answer?.status), at: now))
      case .finished(let failure):
        orders.end(isDone: failure == nil)
        report(failure)
      }
    }
  }
}
