// SPDX-License-Identifier: Apache-2.0

import ThreadRequests

/// One request must never fail the batch that it came in: the broker would send the batch again and again, and nothing
/// else would be received.
struct TransactionStep {
  let context: TransactionContext
  let progress: TransactionProgress

  /// Runs what one request asks for, or what one answer takes. If that fails unexpectedly, all that it did is undone,
  /// and the log says why.
  ///
  /// - Throws: `AnswerFailure`, for the requester; and what is wrong with the store itself, which the whole
  ///   batch has to wait for.
  func run<R>(_ body: () throws -> R) throws -> R {
    let undo = savepoint()
    let result: Result<R, AnswerFailure>
    do {
      result = try context.tx.savepoint { () -> Result<R, AnswerFailure> in
        // A refusal is foreseen: what it noted before stays.
        do { return .success(try body()) } catch let failure as AnswerFailure {
          return .failure(failure)
        }
      }
    } catch {
      guard !StoreFailure.stopsAll(error) else { throw error }
      undo()
      let path = context.store.keychain.location.directory
      progress.outcome.news.add(
        .error, "a request failed", ["reason": "\(StoreFailure.reason(error, path: path))"])
      throw AnswerFailure(.store, "the daemon could not do this; its log says why")
    }
    return try result.get()
  }

  /// - Returns: what brings back how it is now.
  private func savepoint() -> () -> Void {
    let undo = progress.savepoint()
    let homes = context.servedHomes.map { ($0, $0.preferred, $0.changes) }
    return {
      undo()
      for (home, preferred, changes) in homes {
        home.preferred = preferred
        home.changes = changes
      }
    }
  }
}
