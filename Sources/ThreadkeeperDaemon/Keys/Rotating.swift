// SPDX-License-Identifier: Apache-2.0

import KeychainCore

extension StoreService {
  /// Why the keys are renewed.
  enum RotationCause {
    /// Somebody wants new ones.
    case newKeys
    /// New roots have brought them already.
    case newRoots
    /// To finish what there is to finish: no new ones are made.
    case leftovers
  }

  /// The rotation under way, or the last one.
  struct Rotating {
    /// What comes after a pass.
    enum Next: Equatable {
      case nothing
      /// Another look for what is left.
      case leftovers
      case newKeys(actor: String?)
    }

    private struct Request {
      let actor: String?
    }

    var report = StoreReport.Rotation()
    /// There was more to do when the one under way may have been at its end.
    private(set) var isWantedAgain = false
    /// Whether the one under way gives every item keys that were made since it began.
    private var hasNewKeys = false
    /// Who wanted new keys while it did not.
    private var wanted: Request?

    /// - Returns: whether it is to be begun: none is begun beside another one.
    mutating func begins(_ cause: RotationCause, for actor: String?) -> Bool {
      guard report.running else {
        self = Rotating(report: .init(running: true), hasNewKeys: cause != .leftovers)
        return true
      }
      switch cause {
      // It may have looked for older keys for the last time.
      case .leftovers, .newRoots: isWantedAgain = true
      case .newKeys where hasNewKeys: break
      case .newKeys:
        wanted = wanted ?? Request(actor: actor)
        report.queued = true
      }
      return false
    }

    /// - Parameter before: passes that were followed by this one: together they are one work.
    mutating func end(_ pass: RotationReport, after before: RotationReport?) -> Next {
      if pass.isFinished {
        if let wanted, !pass.hasFinishedAnother {
          self = Rotating(report: .init(running: true), hasNewKeys: true)
          return .newKeys(actor: wanted.actor)
        }
        (wanted, report.queued) = (nil, nil)
        if isWantedAgain {
          isWantedAgain = false
          return .leftovers
        }
      }
      report.finish(pass.after(before))
      return .nothing
    }
  }
}

extension RotationReport {
  /// It has done what one that was interrupted had left. That is all that `keys rotate` does then, with a
  /// daemon or without.
  fileprivate var hasFinishedAnother: Bool { wasPending && renewed + retiredKeys > 0 }
}
