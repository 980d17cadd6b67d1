// SPDX-License-Identifier: Apache-2.0

import ThreadRequests

/// One request must never fail the batch that it came in: the broker would bring the batch again and
/// again, and nothing else would be heard.
extension BatchApplier {
  /// Runs what one request asks for, or what one answer takes. If that fails in a way that nobody has
  /// thought of, all that it did is undone, and the log says why.
  ///
  /// - Throws: `AnswerFailure`, for who asks; and what is wrong with the store itself, which the whole
  ///   batch has to wait for.
  func step<R>(_ body: () throws -> R) throws -> R {
    let undo = savepoint()
    let result: Result<R, AnswerFailure>
    do {
      result = try tx.savepoint { () -> Result<R, AnswerFailure> in
        // A refusal is foreseen: what it noted before stays.
        do { return .success(try body()) } catch let failure as AnswerFailure {
          return .failure(failure)
        }
      }
    } catch {
      guard !StoreFailure.stopsAll(error) else { throw error }
      undo()
      outcome.news.add(
        .error, "a request failed",
        ["reason": "\(StoreFailure.reason(error, path: store.keychain.location.directory))"])
      throw AnswerFailure(.store, "the daemon could not do this; its log says why")
    }
    return try result.get()
  }

  /// Notes what the batch has come to so far, and returns what brings it back.
  private func savepoint() -> () -> Void {
    let noted = (outcome, progress)
    let restores = servedHomes.map { $0.savepoint() }
    return { [self] in
      (outcome, progress) = noted
      for restore in restores { restore() }
    }
  }
}

extension HomeContext {
  fileprivate func savepoint() -> () -> Void {
    let noted = (preferred, isPreferredNew, needsLook, routersChange, plaintextUsers)
    let looks = (needsKeyLook, hasChangedRouters, movedTo, needsMoveLook, needsWalk)
    return { [self] in
      (preferred, isPreferredNew, needsLook, routersChange, plaintextUsers) = noted
      (needsKeyLook, hasChangedRouters, movedTo, needsMoveLook, needsWalk) = looks
    }
  }
}
