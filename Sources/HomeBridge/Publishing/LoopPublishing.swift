// SPDX-License-Identifier: Apache-2.0

import Home
import HomeStore
import ThreadDataset

import struct Home.WireTime

// What a `LoopFollower` hands on of its loop.

extension EventWriter {
  /// The messages that an input causes: that it was rejected, or what has happened.
  ///
  /// - Parameter home: after the input.
  package func messages(
    of outcome: LoopOutcome, in home: Home, at now: WireTime
  ) -> [[UInt8]] {
    var rows: [[UInt8]] = []
    if let rejection = outcome.rejection, let origin = outcome.origin {
      rows.append(
        message(
          rejection, topic: origin.topic, user: origin.user, agent: outcome.router, at: now))
    }
    return rows + messages(for: outcome.output, of: home, at: now)
  }
}

extension Publisher {
  /// What is on disk now.
  ///
  /// - Parameter snapshot: after the batch.
  package func note(_ batch: CommittedBatch, _ snapshot: HomeSnapshot) {
    let commits = batch.changes.compactMap { name, changes in
      snapshot.homes[name].map { Commit(name, $0, changes) }
    }
    note(commits, messages: batch.messages, received: batch.received)
  }
}
