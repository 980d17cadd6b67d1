// SPDX-License-Identifier: Apache-2.0

import Broker

/// What becomes of one alert, given what is stored of it and whether its condition holds now.
enum AlertTransition: Hashable, Sendable {
  case none
  /// The condition begins: wait and see whether it lasts.
  case hold
  case raise
  /// It continues, with something new to publish.
  case update
  /// It continues unpublished, with other facts.
  case amend
  case resolve
  /// It ended before it was published.
  case drop

  init(
    phase: AlertRecord.Phase?, facts: AlertFacts?, wanted: AlertFacts?, heldSince: WireTime?,
    hold: Int, now: WireTime
  ) {
    guard let wanted else {
      switch phase {
      case .held: self = .drop
      case .firing: self = .resolve
      case .resolved, nil: self = .none
      }
      return
    }
    let isNews = facts.map { !$0.saysTheSame(as: wanted) } ?? true
    switch phase {
    case nil, .resolved: self = hold == 0 ? .raise : .hold
    case .held:
      if let heldSince, heldSince.adding(seconds: hold) <= now {
        self = .raise
      } else {
        self = isNews ? .amend : .none
      }
    case .firing: self = isNews ? .update : .none
    }
  }
}
